"""The relay node: what stands between an app and the tunnel to its printer."""
