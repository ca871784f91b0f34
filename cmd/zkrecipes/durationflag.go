package main

import (
	"errors"
	"time"
)

// A durationFlag is a flag for a length of time that is not negative.
type durationFlag struct {
	value *time.Duration
	given bool // on the command line
}

var (
	errNoDuration = errors.New("not a length of time: write a number with a unit, such as 500ms, 30s or 5m")
	errNegative   = errors.New("must not be negative")
)

// String returns the present value.
func (f *durationFlag) String() string {
	if f.value == nil { // the flag package asks a zero value
		return ""
	}
	return f.value.String()
}

// limit returns the value if the flag was given, and else 0.
func (f *durationFlag) limit() time.Duration {
	if !f.given {
		return 0
	}
	return *f.value
}

// Set parses the flag's value.
func (f *durationFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return errNoDuration
	case d < 0:
		return errNegative
	}
	*f.value, f.given = d, true
	return nil
}
