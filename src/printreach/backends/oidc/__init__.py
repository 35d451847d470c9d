"""A provider of OpenID Connect, asked over HTTPS: authorization code, PKCE, signed ID tokens."""
