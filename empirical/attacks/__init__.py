"""How releases become scores."""
