"""The league table: real libraries held to the bounds."""
