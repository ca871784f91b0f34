package guard

import "fmt"

// What the guard sends first over a new connection, right behind the handshake: the
// credentials, which the server takes in before it reads on; a check of nodes that work
// relies on; and the watches of the session, which a connection's end has taken from
// the server. Requests of package framework come when all that was answered, so that no
// read shows a change before the event for it.

// A Credential proves an identity to the servers.
type Credential struct {
	Scheme string // such as "digest"
	Secret []byte // what the scheme wants
}

// Watched is the paths of watches by their kind, as a server tells them apart.
type Watched struct {
	Data     []string // of nodes that existed
	Missing  []string // of nodes that did not
	Children []string // of nodes whose children are watched
}

// attach sends what comes first. The watches are set as of the newest answer to a
// request: the server answers with an event for each that a later change would have
// fired. Behind other zxids that were seen an event may be missing: a transaction may
// fire several, and the answer to the check comes before those of the watches.
func (c *Conn) attach() {
	c.order.Lock()
	c.mu.Lock()
	c.attached = true
	c.mu.Unlock()
	for _, cred := range c.guard.cfg.Auth {
		c.append(authRequest(cred))
	}
	c.sendCheck(c.startCheck())
	c.toSet = watchesRequests(c.guard.told.Load(), c.guard.events.Watched())
	if len(c.toSet) > 0 {
		c.append(c.toSet[0])
	}
	c.order.Unlock()
	if c.isSettled() {
		c.guard.events.Attached(c)
	}
}

// isSettled reports whether all was answered that comes first. The goroutine that reads
// calls it.
func (c *Conn) isSettled() bool {
	return c.accepted == len(c.guard.cfg.Auth) && len(c.toSet) == 0
}

// onFirst handles an answer to what comes first.
func (c *Conn) onFirst(op, code int32) error {
	if op == OpSetAuth {
		if err := c.onCredential(code); err != nil {
			return err
		}
	} else {
		c.onWatchesSet(code)
	}
	if c.isSettled() {
		c.guard.events.Attached(c)
	}
	return nil
}

// onCredential handles the answer to the next credential.
func (c *Conn) onCredential(code int32) error {
	cred := c.guard.cfg.Auth[c.accepted]
	c.accepted++
	switch code {
	case 0:
		return nil
	case codeAuthFailed:
		err := fmt.Errorf("credential %d, scheme %q: %w", c.accepted, cred.Scheme, ErrAuthFailed)
		c.guard.events.Refused(err)
		return err
	}
	return fmt.Errorf("credential %d, scheme %q: error code %d", c.accepted, cred.Scheme, code)
}

// onWatchesSet handles the answer to a request that sets watches, and sends the next
// one. Many at once would keep the session's checks waiting, and the last of them would
// look as if the server were silent.
func (c *Conn) onWatchesSet(code int32) {
	if code != 0 { // no event will come any more
		c.guard.events.WatchesLost()
		c.toSet = nil
		return
	}
	if c.toSet = c.toSet[min(1, len(c.toSet)):]; len(c.toSet) > 0 {
		c.post(c.toSet[0])
	}
}

func authRequest(cred Credential) []byte {
	e := newRequest(xidFirst, OpSetAuth)
	e.Int32(0)
	e.String(cred.Scheme)
	e.String(string(cred.Secret))
	return e.Frame()
}

// watchesBytes is about how large a request to set watches becomes: servers limit the
// size of requests.
const watchesBytes = 100 << 10

// watchesRequests returns the requests that set watches, none if there are no watches.
func watchesRequests(zxid int64, w Watched) (frames [][]byte) {
	lists := [...][]string{w.Data, w.Missing, w.Children}
	for left := len(w.Data) + len(w.Missing) + len(w.Children); left > 0; {
		e := newRequest(xidFirst, OpSetWatches)
		e.Int64(zxid)
		for i := range lists {
			n, size := 0, 0
			for ; n < len(lists[i]) && len(e.Bytes())+size < watchesBytes; n++ {
				size += 4 + len(lists[i][n])
			}
			e.Strings(lists[i][:n])
			lists[i], left = lists[i][n:], left-n
		}
		frames = append(frames, e.Frame())
	}
	return frames
}
