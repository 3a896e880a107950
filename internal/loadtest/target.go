package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A target is what a load goes to.
type target struct {
	name    string
	address string
	header  string
	command *exec.Cmd     // nil: it is not a process of its own
	ended   chan struct{} // is closed when the process has ended
	err     error         // with which it has
	names   int           // conversations so far

	talks map[int][]*talk // by size of the body
	idle  memory          // once it was ready
}

// A way is how a gateway is started.
type way struct {
	name    string
	program string
	args    func(port, upstream, folder string) ([]string, error)
	env     []string
	header  func(upstream string) string
}

// ways returns how those gateways are started whose programs are named.
func ways(plimsoll, litellm, portkey string) []way {
	none := func(string) string { return "" }
	all := []way{{
		name: "plimsoll", program: plimsoll, header: none,
		args: func(port, upstream, folder string) ([]string, error) {
			return []string{
				"proxy", "--listen", "127.0.0.1:" + port, "--db", filepath.Join(folder, "plimsoll.db"),
				"--upstream", "openai=" + upstream + "/v1", "--window", model + "=4000000",
			}, nil
		},
	}, {
		name: "litellm", program: litellm, header: none,
		env: []string{"LITELLM_MASTER_KEY=" + key, "LITELLM_LOG=ERROR", "LITELLM_TELEMETRY=False", "LITELLM_LOCAL_MODEL_COST_MAP=True"},
		args: func(port, upstream, folder string) ([]string, error) {
			config := filepath.Join(folder, "litellm.yaml")
			text := "model_list:\n- model_name: " + model + "\n  litellm_params:\n    model: openai/" + model + "\n    api_base: " + upstream + "/v1\n    api_key: " + key + "\n" +
				"litellm_settings:\n  telemetry: false\n  num_retries: 0\n"
			return []string{"--config", config, "--host", "127.0.0.1", "--port", port, "--num_workers", "1"}, os.WriteFile(config, []byte(text), 0o600)
		},
	}, {
		name: "portkey", program: "node",
		header: func(upstream string) string {
			return "X-Portkey-Provider: openai\r\nX-Portkey-Custom-Host: " + upstream + "/v1\r\n"
		},
		env: []string{"NODE_ENV=production", "TRUSTED_CUSTOM_HOSTS=127.0.0.1,localhost"},
		args: func(port, _, _ string) ([]string, error) {
			return []string{portkey, "--port=" + port, "--headless"}, nil
		},
	}}
	var named []way
	for i, file := range []string{plimsoll, litellm, portkey} {
		if file != "" {
			named = append(named, all[i])
		}
	}
	return named
}

// start starts a gateway and waits until it takes connections. What it says goes to a
// file in folder.
func start(ctx context.Context, w way, upstream, folder string) (*target, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	args, err := w.args(port, upstream, folder)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, w.name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the process has its own
	program, err := exec.LookPath(w.program)
	if err != nil {
		return nil, err
	}
	if program, err = filepath.Abs(program); err != nil { // it runs in another folder
		return nil, err
	}
	t := &target{name: w.name, address: "127.0.0.1:" + port, header: w.header(upstream), ended: make(chan struct{}), talks: map[int][]*talk{}}
	t.command = exec.CommandContext(ctx, program, args...)
	t.command.Stdout, t.command.Stderr, t.command.Dir, t.command.Env = log, log, folder, append(os.Environ(), w.env...)
	t.command.Cancel = func() error { return t.command.Process.Signal(syscall.SIGTERM) }
	t.command.WaitDelay = 10 * time.Second
	if err := t.command.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", w.name, err)
	}
	go func() {
		t.err = t.command.Wait()
		close(t.ended)
	}()
	if err := t.ready(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w; its log is %s", w.name, errors.Join(err, t.stop()), log.Name())
	}
	return t, nil
}

// freePort returns a port that nobody listens at now.
func freePort(ctx context.Context) (string, error) {
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close() //nolint:errcheck // nobody was let in
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// ready waits until the process takes connections. Python needs its time.
func (t *target) ready(ctx context.Context) error {
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	for range 1200 {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", t.address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-every.C:
		case <-t.ended:
			return fmt.Errorf("it has ended: %w", t.err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("it takes no connections")
}

// stop ends the process and waits for it.
func (t *target) stop() error {
	if t.command == nil {
		return nil
	}
	_ = t.command.Process.Signal(syscall.SIGTERM) // one that has ended needs none
	select {
	case <-t.ended: // by a signal: how is no news
		return nil
	case <-time.After(15 * time.Second):
		return t.command.Process.Kill()
	}
}

// talksOf returns n conversations of a size. The same ones go on with each load.
func (t *target) talksOf(h history, n int) []*talk {
	for len(t.talks[h.size]) < n {
		line := len(t.talks[h.size])
		t.talks[h.size] = append(t.talks[h.size], newTalk(h, func() string {
			t.names++
			return fmt.Sprintf("load-%d-%d-%d", h.size, line, t.names)
		}))
	}
	return t.talks[h.size][:n]
}

// memory is what a process has in memory, in bytes.
type memory struct{ resident, most int }

// usage returns the memory of the process and those it has started, and the processor time
// they have taken.
func (t *target) usage() (m memory, cpu time.Duration, err error) {
	if t.command == nil {
		return memory{}, 0, nil
	}
	todo := []string{strconv.Itoa(t.command.Process.Pid)}
	for len(todo) > 0 {
		pid := todo[0]
		todo = todo[1:]
		one, spent, children, err := process(pid)
		if err != nil {
			return memory{}, 0, err
		}
		m.resident, m.most, cpu = m.resident+one.resident, m.most+one.most, cpu+spent
		todo = append(todo, children...)
	}
	return m, cpu, nil
}

// tick is the unit of times in /proc/PID/stat (proc(5): USER_HZ, which is 100).
const tick = 10 * time.Millisecond

// process reads /proc of one process.
func process(pid string) (m memory, cpu time.Duration, children []string, err error) {
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return memory{}, 0, nil, err
	}
	for text := range strings.Lines(string(status)) {
		f := strings.Fields(text)
		if len(f) < 2 {
			continue
		}
		switch n, _ := strconv.Atoi(f[1]); f[0] { // a line that is no number is none of these
		case "VmRSS:":
			m.resident = n << 10
		case "VmHWM:":
			m.most = n << 10
		}
	}
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return memory{}, 0, nil, err
	}
	// The name, in brackets, may have anything in it; the 12th and 13th field behind it are the times.
	if f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])); len(f) > 12 {
		user, err1 := strconv.Atoi(f[11])
		system, err2 := strconv.Atoi(f[12])
		if err := errors.Join(err1, err2); err != nil {
			return memory{}, 0, nil, err
		}
		cpu = time.Duration(user+system) * tick
	}
	threads, err := filepath.Glob("/proc/" + pid + "/task/*/children")
	if err != nil {
		return memory{}, 0, nil, err
	}
	for _, t := range threads {
		if list, err := os.ReadFile(t); err == nil { // a thread may have ended
			children = append(children, strings.Fields(string(list))...)
		}
	}
	return m, cpu, children, nil
}
