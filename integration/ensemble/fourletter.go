package ensemble

import (
	"context"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Ask sends a four-letter word to the server at addr over a new connection and returns
// the answer. It ends with ctx.
func Ask(ctx context.Context, addr, word string) (string, error) {
	answer, err := ask(ctx, addr, word)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("ask %s for %q: %w", addr, word, err)
	}
	return answer, nil
}

func ask(ctx context.Context, addr, word string) (string, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

// Srvr returns the answer to "srvr": its lines "Key: value", among them "Mode", "Zxid"
// and "Node count". A server that does not serve answers none of them.
func Srvr(ctx context.Context, addr string) (map[string]string, error) {
	return table(ctx, addr, "srvr", ": ")
}

// Mntr returns the answer to "mntr": the server's measurements by name, such as
// "zk_znode_count", "zk_watch_count" and "zk_ephemerals_count".
func Mntr(ctx context.Context, addr string) (map[string]string, error) {
	return table(ctx, addr, "mntr", "\t")
}

// table reads an answer of one key and one value per line.
func table(ctx context.Context, addr, word, separator string) (map[string]string, error) {
	text, err := Ask(ctx, addr, word)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), separator); ok {
			values[key] = value
		}
	}
	return values, nil
}

// A Connection is one client connection as the server sees it.
type Connection struct {
	Remote  string            // the client's address
	Session int64             // 0 before the session is established
	Fields  map[string]string // all fields of the answer: "queued", "recved", "sent", "lop", "to" (the timeout), ...
}

var consForm = regexp.MustCompile(`^/(\S+?)\[\d+\]\((.*)\)$`)

// Cons returns the answer to "cons": the server's client connections, the asking one
// included.
func Cons(ctx context.Context, addr string) ([]Connection, error) {
	text, err := Ask(ctx, addr, "cons")
	if err != nil {
		return nil, err
	}
	var all []Connection
	for line := range strings.Lines(text) {
		m := consForm.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		c := Connection{Remote: m[1], Fields: map[string]string{}}
		for field := range strings.SplitSeq(m[2], ",") {
			key, value, _ := strings.Cut(field, "=")
			c.Fields[key] = value
		}
		if sid, ok := c.Fields["sid"]; ok {
			if c.Session, err = parseSession(sid); err != nil {
				return nil, unexpected(addr, "cons", line)
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// Dump returns, of the answer to "dump", the paths of the ephemeral nodes by the
// session that owns them.
func Dump(ctx context.Context, addr string) (map[int64][]string, error) {
	text, err := Ask(ctx, addr, "dump")
	if err != nil {
		return nil, err
	}
	_, section, ok := strings.Cut(text, "ephemeral nodes dump:")
	if !ok {
		return nil, unexpected(addr, "dump", text)
	}
	section, _, _ = strings.Cut(section, "Connections dump:")
	nodes := map[int64][]string{}
	var owner int64
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "0x"):
			if owner, err = parseSession(strings.TrimSuffix(line, ":")); err != nil {
				return nil, unexpected(addr, "dump", line)
			}
		case strings.HasPrefix(line, "/"):
			nodes[owner] = append(nodes[owner], line)
		}
	}
	return nodes, nil
}

// parseSession reads a session id in the form the servers print, "0x1000a2b3c4d0001".
func parseSession(s string) (int64, error) {
	id, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	return int64(id), err //nolint:gosec // an id may use all 64 bits; its sign means nothing
}

func unexpected(addr, word, text string) error {
	return fmt.Errorf("server %s gave an unexpected answer to %q: %.200q", addr, word, strings.TrimSpace(text))
}
