"""What everything else is made of: exact numbers and enclosures, parameters, the registry, the tape of draws."""
