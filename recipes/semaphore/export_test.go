package semaphore

// Fitting is the policy of a single queue.
var Fitting = fitting
