"""HTTP APIs and pages of the service's own host. The web framework lives only here."""
