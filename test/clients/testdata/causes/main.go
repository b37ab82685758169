// Command causes waits for what each case says, all at once, and prints what the error of each says.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"sync"
	"time"

	gonebox "github.com/gonebox/gonebox/clients/go"
)

type testCase struct {
	Name, URL, Credential, For string
	Account                    bool
	Options                    struct {
		From, To, Subject, After, Q, Mailbox, Domain, Source string
		Has                                                  string
		Unseen                                               bool
	}
}

type result struct {
	Name    string   `json:"name"`
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Causes  []string `json:"causes"`
}

// waiter is a mailbox, or all of an account.
type waiter interface {
	WaitForCode(context.Context, ...gonebox.WaitOptions) (string, error)
	WaitForLink(context.Context, ...gonebox.WaitOptions) (string, error)
	WaitForMessage(context.Context, ...gonebox.WaitOptions) (*gonebox.Message, error)
}

func main() {
	var cases []testCase
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		log.Fatal(err)
	}
	results := make([]result, len(cases))
	var waits sync.WaitGroup
	for i, c := range cases {
		waits.Go(func() { results[i] = wait(c) })
	}
	waits.Wait()
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		log.Fatal(err)
	}
}

func wait(c testCase) result {
	ctx := context.Background()
	var w waiter = gonebox.New(c.URL, c.Credential)
	if !c.Account {
		m, err := gonebox.New(c.URL).OpenMailbox(ctx, c.Credential)
		if err != nil {
			return result{c.Name, "open", err.Error(), nil}
		}
		w = m
	}
	o := gonebox.WaitOptions{
		From: c.Options.From, To: c.Options.To, Subject: c.Options.Subject, After: c.Options.After, Unseen: c.Options.Unseen, Timeout: 5 * time.Second,
		Q: c.Options.Q, Mailbox: c.Options.Mailbox, Domain: c.Options.Domain, Source: c.Options.Source,
	}
	if c.Options.Has != "" {
		o.Has = []string{c.Options.Has}
	}
	var err error
	switch c.For {
	case "code":
		_, err = w.WaitForCode(ctx, o)
	case "link":
		_, err = w.WaitForLink(ctx, o)
	default:
		_, err = w.WaitForMessage(ctx, o)
	}
	var e *gonebox.Error
	if !errors.As(err, &e) {
		return result{c.Name, "found", "", nil}
	}
	r := result{c.Name, e.Code, e.Message, nil}
	if e.Diagnosis != nil {
		for _, cause := range e.Diagnosis.Causes {
			r.Causes = append(r.Causes, cause.Code)
		}
	}
	return r
}
