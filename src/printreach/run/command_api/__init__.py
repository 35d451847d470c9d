"""The reference of the command API, as a page and as OpenAPI, made from the code's tables."""
