package framework

// Methods of a value that this package has not made say so: they return one of these
// errors, or panic with it where they return none.
var (
	errZeroClient  = invalid("a nil or zero framework.Client: make one with framework.Connect")
	errZeroSession = invalid("a nil or zero framework.Session: Client.Session and Client.AwaitSession return them")
	errZeroWatch   = invalid("a nil or zero framework.Watch: a read that fails returns none")
)

// usable returns an error for a zero or nil client. All operations come through do,
// multi, createOptions or AwaitSession, which ask.
func (c *Client) usable() error {
	if c == nil || c.core == nil {
		return errZeroClient
	}
	return nil
}

// mustBeUsable panics for a zero or nil client.
func (c *Client) mustBeUsable() {
	if err := c.usable(); err != nil {
		panic(err)
	}
}

// mustBeUsable panics for a zero or nil session.
func (s *Session) mustBeUsable() {
	if s == nil || s.guard == nil {
		panic(errZeroSession)
	}
}
