package znode

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"time"
)

// RecordsDir is the name of the parent of the records of runs that are done, below the
// path of a job. Beside it, under the name of its record, a run has its queue.
const RecordsDir = "done"

// The ends of the names of runs. With them no name is one of a contender.
const (
	keySuffix  = ".key"
	hashSuffix = ".hash"
	tickSuffix = ".tick"
)

// longestName is the length of the longest name of a key that is not a hash. A hundred
// thousand names fit into one answer of a server.
const longestName = 96

// KeyName returns the name of the run of a key. Different keys have different names,
// and none of them has a meaning in a path.
func KeyName(key string) string {
	if name := url.PathEscape(key) + keySuffix; len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:]) + hashSuffix
}

// TickName returns the name of the run of a tick.
func TickName(at time.Time) string { return FormatTick(at) + tickSuffix }

// FormatTick returns a tick as a text.
func FormatTick(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// ParseRun reports whether the name is that of a run, and returns the key, "" if its
// name is a hash, or the tick.
func ParseRun(name string) (key string, tick time.Time, ok bool) {
	if text, found := strings.CutSuffix(name, tickSuffix); found {
		at, err := time.Parse(time.RFC3339Nano, text)
		return "", at, err == nil && !at.IsZero() && TickName(at) == name
	}
	if text, found := strings.CutSuffix(name, hashSuffix); found {
		sum, err := hex.DecodeString(text)
		return "", time.Time{}, err == nil && len(sum) == sha256.Size
	}
	text, found := strings.CutSuffix(name, keySuffix)
	key, err := url.PathUnescape(text)
	return key, time.Time{}, found && err == nil && KeyName(key) == name
}

// sweptPrefix begins what the parent of the records stores.
const sweptPrefix = "swept up to "

// Swept is what the parent of the records stores: up to which moment they were removed.
func Swept(upTo time.Time) []byte { return []byte(sweptPrefix + FormatTick(upTo)) }

// ParseSwept is the inverse of Swept. Data that store nothing are the zero moment.
func ParseSwept(data []byte) (upTo time.Time, ok bool) {
	if IsUnset(data) {
		return time.Time{}, true
	}
	text, found := strings.CutPrefix(string(data), sweptPrefix)
	upTo, err := time.Parse(time.RFC3339Nano, text)
	return upTo, found && err == nil
}
