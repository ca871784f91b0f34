package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/labels"
)

// defaultExporterAddress is where "exporter" listens. Prometheus keeps a list of the
// ports of exporters; those up to 9999 are all taken.
const defaultExporterAddress = "localhost:10141"

// exporterFlags is what the command line of "exporter" says.
type exporterFlags struct {
	connection
	address     string
	paths       option[string]
	limit       option[int]
	holderAfter option[time.Duration]
	litter      bool
}

func (f *exporterFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("exporter", flag.ContinueOnError)
	f.connection.register(fs)
	fs.StringVar(&f.address, "address", defaultExporterAddress, "")
	fs.Func("paths", "", f.paths.set(parseText))
	f.limit.value = 1000
	fs.Func("limit", "", f.limit.set(parseNumber))
	f.holderAfter.value = 10 * time.Second
	fs.Func("holder-after", "", f.holderAfter.set(parseDuration))
	fs.BoolVar(&f.litter, "litter", false, "")
	return fs
}

// exporter serves metrics until a signal ends it.
func (p *program) exporter(args []string) error {
	x, err := p.newExporter(args)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", x.address)
	if err != nil {
		return fmt.Errorf("exporter: %w", err)
	}
	ctx, stop := untilEnd()
	defer stop()
	return untilOver(ctx, scrapeGrace+flushLimit, func(ctx context.Context) error {
		_ = printLine(p.stdout, "http://"+listener.Addr().String()+metricsPath) // a caller that chose the port need not read it
		return x.serve(ctx, listener)
	})
}

// newExporter reads the command line, and finds the mistakes that show without a
// server.
func (p *program) newExporter(args []string) (*exporter, error) {
	f := &exporterFlags{}
	path, err := p.parseWithArgument(f.flagSet(), args)
	if err != nil {
		return nil, err
	}
	path = cmp.Or(path, "/")
	if err := framework.ValidatePath(path); err != nil {
		return nil, usageErrorf("exporter: %v", err)
	}
	if err := checkAddress(f.address); err != nil {
		return nil, usageErrorf("exporter: --address %q: %v", f.address, err)
	}
	view, err := f.view()
	if err != nil {
		return nil, err
	}
	cfg, chroot, err := f.config(p.auth)
	if err != nil {
		return nil, err
	}
	x := &exporter{
		address: f.address, cfg: cfg, path: path, full: cmp.Or(strings.TrimSuffix(chroot+path, "/"), "/"), litter: f.litter, view: view,
		limit: waitLimit{duration: f.timeout.value}.forConnect(), log: p.stderr, connected: make(chan struct{}),
	}
	x.surveys.take = x.survey
	return x, nil
}

// view returns which locks have series.
func (f *exporterFlags) view() (lockView, error) {
	view := lockView{label: pathLabel, limit: f.limit.value, holderAfter: f.holderAfter.value}
	if f.limit.value < 0 {
		return view, usageErrorf("exporter: --limit %d: %v", f.limit.value, errNegative)
	}
	if f.paths.given {
		label, err := labels.Paths(strings.Split(f.paths.value, ",")...)
		if err != nil {
			return view, usageErrorf("exporter: --paths: %v", err)
		}
		view.label = func(path string) string { return quote.Path(label(path)) }
	}
	return view, nil
}

// checkAddress finds a mistake in HOST:PORT. The host may be empty, for all of this
// machine's addresses.
func checkAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("not HOST:PORT, such as %s", defaultExporterAddress)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("the port is not between 0 and 65535")
	}
	return nil
}
