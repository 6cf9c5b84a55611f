"""Results that the five documents lean on."""
