"""Pages for those who run the service. To everybody else there are none."""
