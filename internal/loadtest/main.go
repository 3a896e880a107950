package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	plimsoll, litellm, portkey string
	sizes, connections         string
	rate                       float64
	rounds                     int
	lasts, delay, flat         time.Duration
	life                       int
}

func main() {
	var o options
	flag.StringVar(&o.plimsoll, "plimsoll", "bin/plimsoll", "`program` to run as plimsoll")
	flag.StringVar(&o.litellm, "litellm", "", "`program` to run as LiteLLM; none: it is left out")
	flag.StringVar(&o.portkey, "portkey", "", "`file` that node runs as Portkey's gateway; none: it is left out")
	flag.StringVar(&o.sizes, "sizes", "10000,100000,1000000", "`bytes` of a request's body")
	flag.StringVar(&o.connections, "connections", "1,32,256", "how many `connections`")
	flag.Float64Var(&o.rate, "rate", 100, "`requests` a second over all connections, where there are several")
	flag.IntVar(&o.rounds, "rounds", 3, "`times` that everything is measured")
	flag.DurationVar(&o.lasts, "for", 1500*time.Millisecond, "`time` of one measurement")
	flag.DurationVar(&o.delay, "delay", 0, "`time` that the upstream thinks before an answer, and before each event of a stream")
	flag.DurationVar(&o.flat, "flat", 0, "`time` to send at the rate to plimsoll alone, with its memory as it goes; bodies and connections: the first of each list")
	flag.IntVar(&o.life, "life", 12, "`requests` of a conversation when -flat is given")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout, log.New(os.Stderr, "", 0)); err != nil {
		fmt.Fprintln(os.Stderr, "loadtest:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be done
	}
}

func run(ctx context.Context, o options, out io.Writer, log *log.Logger) (err error) {
	sizes, err1 := numbers(o.sizes)
	connections, err2 := numbers(o.connections)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "loadtest")
	if err != nil {
		return err
	}
	defer func() {
		if err == nil { // else the logs in it tell more
			err = os.RemoveAll(folder)
		}
	}()
	url, closeUpstream, err := listen(ctx, newUpstream(o.delay))
	if err != nil {
		return err
	}
	defer closeUpstream()
	named := ways(o.plimsoll, o.litellm, o.portkey)
	if o.flat > 0 {
		named = ways(o.plimsoll, "", "")
	}
	targets := []*target{{name: "direct", address: strings.TrimPrefix(url, "http://"), talks: map[int][]*talk{}}}
	defer func() {
		for _, t := range targets {
			err = errors.Join(err, t.stop())
		}
	}()
	for _, w := range named {
		t, err := start(ctx, w, url, folder)
		if err != nil {
			return err
		}
		targets = append(targets, t)
	}
	if o.flat > 0 {
		return o.steady(ctx, targets[1], newHistory(sizes[0]), connections[0], out)
	}
	s := &series{options: o, targets: targets, log: log}
	if err := s.measure(ctx, sizes, connections); err != nil {
		return err
	}
	return s.print(out)
}

func numbers(list string) (all []int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("want numbers above 0 with commas between them, got %q", list)
		}
		all = append(all, n)
	}
	return all, nil
}

// listen serves h at an address of this machine.
func listen(ctx context.Context, h http.Handler) (url string, stop func(), err error) {
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go s.Serve(l) //nolint:errcheck // it ends when it is closed
	return "http://" + l.Addr().String(), func() { _ = s.Close() }, nil
}
