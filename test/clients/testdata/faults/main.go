// Makes fault rules, or says what they did, and prints what it saw.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	gonebox "github.com/gonebox/gonebox/clients/go"
)

var (
	ctx     = context.Background()
	name    = os.Getenv("NAME")
	service = gonebox.New(os.Getenv("URL"), os.Getenv("KEY"))
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func code(err error) string {
	if e := (*gonebox.Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

func null(text string) string {
	if text == "" {
		return "null"
	}
	return text
}

func has(all []gonebox.Fault, id string) bool {
	return slices.ContainsFunc(all, func(f gonebox.Fault) bool { return f.ID == id })
}

func main() {
	project := must(service.Project(ctx, name))
	if os.Getenv("PHASE") == "add" {
		add(project)
	} else {
		read(project)
	}
}

func add(project *gonebox.Project) {
	rule := must(project.AddFault(ctx, gonebox.FaultRule{
		Stage: gonebox.AtRcpt, Reply: "451 4.3.2 Try again later", To: "admin@*", Times: 1, Delay: 300 * time.Millisecond, For: 10 * time.Minute,
	}))
	wide := must(service.AddFault(ctx, gonebox.FaultRule{
		Stage: gonebox.AtMessage, Reply: "552 Too large", From: "*@" + name + ".example", Project: name, Every: 2, PerMinute: 9, Probability: 0.5, Seed: 42, Close: true,
	}))
	all, own := must(service.Faults(ctx)), must(project.Faults(ctx))
	other := must(must(service.Project(ctx, name+"-other")).Faults(ctx))
	_, err := service.AddFault(ctx, gonebox.FaultRule{Stage: gonebox.AtRcpt})
	ends := "null"
	if !wide.EndsAt.IsZero() || wide.For != 0 {
		ends = wide.EndsAt.String()
	}
	fmt.Println(rule.Project == name, rule.Stage, rule.Reply, rule.To, rule.Times, rule.Delay.Seconds(), rule.Hits, rule.For.Seconds(), null(rule.From), rule.Close)
	fmt.Println(wide.Stage, wide.From == "*@"+name+".example", wide.Every, wide.PerMinute, wide.Probability, wide.Seed, wide.Close, ends)
	fmt.Println(has(all, rule.ID) && has(all, wide.ID), len(own) == 2 && own[0].ID == rule.ID && own[1].ID == wide.ID, len(other), code(err))
}

func read(project *gonebox.Project) {
	rules := must(project.Faults(ctx))
	all := must(project.Transcripts(ctx, time.Time{}))
	refused, reply := all[0], ""
	for _, line := range refused.Lines {
		if line.From == "server" && strings.HasPrefix(line.Text, "451") {
			reply = line.Text
		}
	}
	later, since := must(project.Transcripts(ctx, refused.At.Add(time.Second))), must(project.Transcripts(ctx, time.Unix(0, 0)))
	fmt.Println(rules[0].Hits, rules[1].Hits, len(all), len(later), len(since), reply, strings.Join(refused.To, ","), refused.Refused)
	found := false
	for _, t := range must(service.Transcripts(ctx, time.Time{})) {
		found = found || t.At.Equal(refused.At) && t.Project == name
	}
	dialog := must(project.Transcript(ctx, must(project.Messages(ctx))[0].ID))
	fmt.Println(found, dialog.Refused, strings.Join(dialog.To, ","))
	if err := project.DeleteFault(ctx, rules[0].ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(must(project.Faults(ctx))), code(project.DeleteFault(ctx, rules[0].ID)))
	elsewhere := must(service.AddFault(ctx, gonebox.FaultRule{Stage: gonebox.AtRcpt, Delay: time.Second, To: name + "@sink.example"}))
	if err := project.DeleteFaults(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(must(project.Faults(ctx))), has(must(service.Faults(ctx)), elsewhere.ID))
	if err := service.DeleteFaults(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(must(service.Faults(ctx))))
}
