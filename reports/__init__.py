"""What people read: the report, and the dp-oracle command that ties the four rooms together."""
