package zkprom

// TimeLeft is for tests of what takes a process that was paused.
var TimeLeft = timeLeft
