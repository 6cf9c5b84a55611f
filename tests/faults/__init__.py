"""What goes wrong around the project: broken targets, dying processes, kills, and command lines that nobody means."""
