"""The command API of one printer: requests under /service-command-api, and what answers them."""
