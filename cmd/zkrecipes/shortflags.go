package main

import (
	"strconv"
	"strings"
	"time"
)

// A shortFlag is a letter that stands for a flag, in each verb that has this flag.
type shortFlag struct {
	letter  byte
	name    string                    // of the flag
	convert func(value string) string // nil if the flag takes the value as it is
	zero    string                    // the flag that a time of 0 stands for, in a verb that has it
}

// shortFlags are those of flock(1), with the same meaning, and some of ls(1), kubectl,
// grep(1) and etcdctl. -h is for all verbs.
var shortFlags = []shortFlag{
	{letter: 's', name: "shared"},
	{letter: 'x', name: "exclusive"},
	{letter: 'n', name: "try"},
	{letter: 'w', name: "timeout", convert: inSeconds, zero: "try"},
	{letter: 'E', name: "conflict-exit-code"},
	{letter: 'c', name: "command"},
	{letter: 'r', name: "recursive"},
	{letter: 'o', name: "output"},
	{letter: 'q', name: "quiet"},
	{letter: 'l', name: "listen"},
}

// inSeconds gives a number without a unit that of flock(1).
func inSeconds(text string) string {
	_, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789.") != "" { // as of 1e3, Inf and -1
		return text
	}
	return text + "s"
}

// isZero reports whether a text is a length of time of 0.
func isZero(text string) bool {
	d, err := time.ParseDuration(text)
	return err == nil && d == 0
}
