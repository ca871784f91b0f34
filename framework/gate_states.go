package framework

// A gateState is the state of the gate of a session.
type gateState int

const (
	_             gateState = iota // in the table: there is no such transition
	gateUnready                    // the credentials are not presented yet
	gateClosed                     // there is no connection
	gateRestoring                  // there is one, and the library sets its watches again, or may be about to
	gateReleasing                  // it has set them; the requests that were held back are being sent
	gateOpen                       // requests are let through
	gateOver                       // the session is
)

// A gateEvent is what may change the state.
type gateEvent int

const (
	gatePresented  gateEvent = iota // the credentials were
	gateAttached                    // a connection can be used, and there are no watches to be set again
	gateReattached                  // a connection can be used, and there may be some
	gateAnswered                    // the server has answered the only request that sets them
	gateDue                         // the library has had time to send the next one, and has not
	gateReleased                    // what was held back was sent
	gateBroke                       // the connection is gone
	gateEnded                       // the session is over
	gateEvents
)

// A gateTable holds the state that follows a state and an event. Any other event
// changes nothing.
type gateTable [gateOver + 1][gateEvents]gateState

// gateTransitions are all transitions. The guard reports the end of a connection before
// the next one is attached; the gate does not rely on that.
var gateTransitions = gateTable{
	gateUnready:   {gatePresented: gateOpen, gateEnded: gateOver},
	gateClosed:    {gateAttached: gateOpen, gateReattached: gateRestoring, gateEnded: gateOver},
	gateRestoring: {gateAnswered: gateOpen, gateDue: gateReleasing, gateBroke: gateClosed, gateEnded: gateOver},
	gateReleasing: {gateReleased: gateOpen, gateReattached: gateRestoring, gateBroke: gateClosed, gateEnded: gateOver},
	gateOpen:      {gateReattached: gateRestoring, gateBroke: gateClosed, gateEnded: gateOver},
}
