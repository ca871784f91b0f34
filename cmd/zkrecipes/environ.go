package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Variables that zkrecipes reads, besides those that are named after other flags.
const (
	envServers = "ZKRECIPES_SERVERS"
	envAuth    = "ZKRECIPES_AUTH" // has no flag: all users of the machine can read flags
)

// The variables that zkrecipes sets for the command. None is named after a flag.
const (
	envLockPath    = "ZKRECIPES_LOCK_PATH"
	envLockToken   = "ZKRECIPES_LOCK_TOKEN"
	envLockSession = "ZKRECIPES_LOCK_SESSION"
	envAncestors   = "ZKRECIPES_LOCK_ANCESTORS"
	envLockCount   = "ZKRECIPES_LOCK_COUNT"  // with several locks
	envLockStripe  = "ZKRECIPES_LOCK_STRIPE" // with --stripes
	envLockKey     = "ZKRECIPES_LOCK_KEY"    // with --once and --key
	envLockTick    = "ZKRECIPES_LOCK_TICK"   // with --once and --tick
)

// environ is an environment: "NAME=value" strings.
type environ []string

// get returns the value of a variable, "" if it is not set. The last entry counts, as
// in package os/exec.
func (e environ) get(name string) string {
	value := ""
	for _, entry := range e {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

// with returns a copy in which the variables have these values. It removes earlier
// entries, because programs differ in which of two they use.
func (e environ) with(names, values []string) environ {
	merged := make(environ, 0, len(e)+len(names))
next:
	for _, entry := range e {
		for _, name := range names {
			if strings.HasPrefix(entry, name+"=") {
				continue next
			}
		}
		merged = append(merged, entry)
	}
	for i, name := range names {
		merged = append(merged, name+"="+values[i])
	}
	return merged
}

// forCommand returns the environment of a command that runs under locks.
func (e environ) forCommand(locks []string, tokens []lease.Token, session int64) environ {
	names := []string{envLockPath, envLockToken, envLockSession, envAncestors}
	values := []string{locks[0], tokens[0].String(), hexSession(session), e.ancestorsWith(session)}
	if len(locks) > 1 {
		names, values = append(names, envLockCount), append(values, strconv.Itoa(len(locks)))
		for i, lock := range locks {
			names = append(names, numbered(envLockPath, i+1), numbered(envLockToken, i+1))
			values = append(values, lock, tokens[i].String())
		}
	}
	return e.withoutOthers().with(names, values)
}

// numbered is the variable for one of several locks. Any text can be in a path but NUL,
// which cannot be in a variable either: a list of paths in one variable would have no
// separator.
func numbered(name string, number int) string { return fmt.Sprintf("%s_%d", name, number) }

// withoutOthers returns a copy without what a zkrecipes above this one may have set and
// this one may not: that may have more locks, or a stripe. The key or tick of a run
// stays: the work under a further lock still is a part of that.
func (e environ) withoutOthers() environ {
	return slices.DeleteFunc(slices.Clone(e), func(entry string) bool {
		return strings.HasPrefix(entry, envLockPath+"_") || strings.HasPrefix(entry, envLockToken+"_") ||
			strings.HasPrefix(entry, envLockCount+"=") || strings.HasPrefix(entry, envLockStripe+"=")
	})
}

// hexSession writes a session's id as ZooKeeper's tools and logs do. Servers with a
// number above 127 give ids that are negative as int64.
func hexSession(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }
