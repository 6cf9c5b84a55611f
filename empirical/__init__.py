"""What runs show: audits of released models, held to what `oracle` proves."""
