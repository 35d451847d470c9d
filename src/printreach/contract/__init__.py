"""The types that both ends exchange: frozen structs and enums, without I/O."""
