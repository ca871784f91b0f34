package main

import "flag"

// A onceFlag is the value of a flag that may be given once. Of two values the flag
// package would keep the last, so that "--lock a --lock b" locked only b.
type onceFlag struct {
	flag.Value
	given, again bool
}

// Set takes the first value, and remembers that there was another.
func (f *onceFlag) Set(text string) error {
	f.given, f.again = true, f.given
	if f.again {
		return nil // parse says it in words of its own
	}
	return f.Value.Set(text)
}

// IsBoolFlag tells the flag package whether the flag can stand without a value.
func (f *onceFlag) IsBoolFlag() bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// allowOnce makes all flags of a set flags that may be given once. It can be called
// again, between two parts of one command line.
func allowOnce(fs *flag.FlagSet) {
	fs.VisitAll(func(f *flag.Flag) {
		if _, done := f.Value.(*onceFlag); !done {
			f.Value = &onceFlag{Value: f.Value}
		}
	})
}

// givenAgain returns the name of a flag that was given more than once, "" if there is
// none.
func givenAgain(fs *flag.FlagSet) (name string) {
	fs.VisitAll(func(f *flag.Flag) {
		if once, ok := f.Value.(*onceFlag); ok && once.again && name == "" {
			name = f.Name
		}
	})
	return name
}
