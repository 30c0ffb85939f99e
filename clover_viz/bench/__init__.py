"""Speed, as ratios of two things measured in one run: they hold on any machine, milliseconds do not."""
