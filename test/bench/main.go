package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// timeLimit ends a run that hangs; a whole run takes less than eight minutes on two shared cores.
const timeLimit = 20 * time.Minute

// part is one of the measurements; its name is what --only takes.
type part struct {
	name string
	run  func(context.Context, *bench) error
}

func parts() []part {
	return []part{{"mail", mailPart}, {"calls", callsPart}, {"polls", pollsPart}, {"webhooks", webhooksPart}, {"postgres", postgresPart}, {"processes", processesPart}, {"start", startPart}, {"growth", growthPart}, {"sink", sinkPart}, {"inbox", inboxPart}, {"soak", soakPart}}
}

func main() {
	bare := map[string]func(net.Listener) error{receiverCommand: serveGoSMTP, answererCommand: serveNetHTTP}
	if len(os.Args) == 2 && bare[os.Args[1]] != nil {
		exit(runBare(bare[os.Args[1]]))
	}
	signal.Ignore(syscall.SIGPIPE) // the data folders are removed even if the reader of the report has gone
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(run(ctx, os.Args[1:]))
}

func exit(err error) {
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// options are the command line.
type options struct {
	only    map[string]bool // nil: everything
	quick   bool
	dir     string // where data folders go
	binary  string // a gonebox that is built already
	chart   string // the file for the picture; "": none
	before  string // another version of gonebox, which takes turns in the parts mail, calls and start
	against string // the revision to build that version from; "": none
	peers   bool   // servers of others take turns in the parts mail and calls

	postgres bool          // growth and soak run on PostgreSQL
	stock    int           // messages of growth
	duration time.Duration // of the soak
	csv      string        // the file for its samples
}

func parse(args []string) (options, error) {
	var o options
	var only string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&only, "only", "", "parts to run, separated by commas: "+strings.Join(names(), ", "))
	flags.BoolVar(&o.quick, "quick", false, "fewer and shorter rounds")
	flags.StringVar(&o.dir, "dir", "", "folder for the data, on a real disk (default: the system's temporary folder)")
	flags.StringVar(&o.binary, "gonebox", "", "gonebox binary to measure (default: build this checkout's)")
	flags.StringVar(&o.before, "before", "", "gonebox binary of another version, which takes turns with the first in the parts mail, calls and start")
	flags.StringVar(&o.against, "against", "", "revision of gonebox to build and use as --before")
	flags.BoolVar(&o.peers, "peers", true, "have servers of others take turns in the parts mail and calls; --peers=false compares two versions in less time")
	flags.StringVar(&o.chart, "chart", "", "file for a picture of the figures, as SVG")
	flags.BoolVar(&o.postgres, "postgres", false, "run growth and soak on PostgreSQL instead of SQLite")
	flags.IntVar(&o.stock, "stock", 500_000, "messages that growth stores, five in each mailbox")
	flags.DurationVar(&o.duration, "duration", time.Hour, "length of the soak")
	flags.StringVar(&o.csv, "csv", os.DevNull, "file for the samples of the soak")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if o.before != "" && o.against != "" {
		return o, errors.New("--before and --against: name one of them")
	}
	if o.stock < 1000 {
		return o, errors.New("--stock: at least 1000")
	}
	var err error
	o.only, err = chosen(only)
	return o, err
}

func names() []string {
	var all []string
	for _, p := range parts() {
		all = append(all, p.name)
	}
	return all
}

func chosen(only string) (map[string]bool, error) {
	if only == "" {
		return nil, nil
	}
	known := make(map[string]bool)
	for _, name := range names() {
		known[name] = true
	}
	wanted := make(map[string]bool)
	for name := range strings.SplitSeq(only, ",") {
		if !known[name] {
			return nil, fmt.Errorf("--only %s: the parts are %s", name, strings.Join(names(), ", "))
		}
		wanted[name] = true
	}
	return wanted, nil
}

func run(ctx context.Context, args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	limit := timeLimit + time.Duration(o.stock)*time.Millisecond
	if o.only["soak"] {
		limit += o.duration
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	b.report.header(b)
	begun := time.Now()
	for _, p := range parts() {
		if o.only != nil && !o.only[p.name] {
			continue
		}
		if err := p.run(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	b.report.footer(time.Since(begun))
	if o.chart == "" {
		return nil
	}
	return b.report.chart.write(o.chart)
}
