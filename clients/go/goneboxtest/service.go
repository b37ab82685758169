package goneboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	gonebox "github.com/gonebox/gonebox/clients/go"
)

// StartService is Start for where there is no test yet, such as TestMain. stop ends the service if StartService started it, and must
// be called before os.Exit, which calls no deferred function.
func StartService() (service *Service, stop func(), err error) {
	if url := os.Getenv("GONEBOX_URL"); url != "" {
		return &Service{Gonebox: gonebox.New(url, os.Getenv("GONEBOX_KEY")), SMTP: os.Getenv("GONEBOX_SMTP")}, func() {}, nil
	}
	data, err := os.MkdirTemp("", "gonebox-")
	if err != nil {
		return nil, nil, err
	}
	service, end, err := run(data)
	if err != nil {
		_ = os.RemoveAll(data)
		return nil, nil, err
	}
	return service, func() {
		end()
		_ = os.RemoveAll(data)
	}, nil
}

// startTries is how often the binary is started at most, each time on other ports, where another process took those that were free.
const startTries = 5

// run starts the binary on a data folder and waits until it is ready.
func run(data string) (service *Service, stop func(), err error) {
	for range startTries {
		if service, stop, err = runOnce(data); err == nil || !strings.Contains(err.Error(), "address already in use") {
			break
		}
	}
	return service, stop, err
}

func runOnce(data string) (*Service, func(), error) {
	binary := os.Getenv("GONEBOX_BINARY")
	if binary == "" {
		binary = "gonebox"
	}
	web, smtp, err := freeAddresses()
	if err != nil {
		return nil, nil, err
	}
	url := "http://" + web
	cmd := exec.Command(binary, "serve", "--dev", "--data-dir", data, "--http-addr", web, "--smtp-addr", smtp,
		"--set", "base_url="+url, "--set", "compat.mailpit.addr=",
		"--set", "smtp.tls.self_signed=false", "--stop-at-eof")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("start gonebox: %w. Put gonebox on the PATH, or set GONEBOX_BINARY to it, or GONEBOX_URL to a running service", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended shows in its output
		close(ended)
	}()
	stop := func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = input.Close()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	}
	for deadline := time.Now().Add(time.Minute); !ready(url); time.Sleep(50 * time.Millisecond) {
		select {
		case <-ended:
			return nil, nil, fmt.Errorf("gonebox ended: %s", output.String())
		default:
			if time.Now().After(deadline) {
				stop()
				return nil, nil, errors.New("gonebox was not ready within a minute")
			}
		}
	}
	return &Service{Gonebox: gonebox.New(url), SMTP: smtp}, stop, nil
}

// ready reports whether the service at a URL responds to /readyz with 200.
func ready(url string) bool {
	client := http.Client{Timeout: 5 * time.Second}
	answer, err := client.Get(url + "/readyz")
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// freeAddresses returns two local addresses whose ports are free now. Another process may take one of them before the
// service does, in which case the service ends.
func freeAddresses() (one, two string, err error) {
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer first.Close() // after the second is found, so that the two differ
	second, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer second.Close()
	return first.Addr().String(), second.Addr().String(), nil
}
