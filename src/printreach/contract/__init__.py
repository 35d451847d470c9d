"""Words both ends say: frozen types and enums, and nothing that waits."""
