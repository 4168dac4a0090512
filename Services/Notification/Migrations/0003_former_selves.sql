-- Who comes back takes over the provider's customer of a former self.

GRANT DELETE ON customers TO ${worker};
