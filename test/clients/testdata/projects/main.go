// Reads the mail of two projects, makes and deletes a third, and prints what it saw.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	gonebox "github.com/gonebox/gonebox/clients/go"
)

var ctx = context.Background()

func main() {
	name, key := os.Getenv("NAME"), os.Getenv("KEY")
	service := gonebox.New(os.Getenv("URL"), key)
	open := func(suffix string) *gonebox.Project {
		p, err := service.Project(ctx, name+suffix)
		if err != nil {
			log.Fatal(err)
		}
		return p
	}
	code := func(p *gonebox.Project, to string) string {
		code, err := p.WaitForCode(ctx, gonebox.WaitOptions{To: to})
		if err != nil {
			log.Fatal(err)
		}
		return code
	}
	one, two := open("-one"), open("-two")
	codes := []any{code(one, "shared@"), code(two, "shared@"), code(two, "other@")}
	others, err := one.Messages(ctx, gonebox.Filter{To: "other@"})
	if err != nil {
		log.Fatal(err)
	}
	fresh := open("-new")
	if _, err := fresh.Inject(ctx, gonebox.Draft{Subject: "injected", Text: "hello"}); err != nil {
		log.Fatal(err)
	}
	isProject, same := fresh.SMTP.Password != "" && one.SMTP.Password == "" && one.SMTP.Username == name+"-one", true
	if key != "" {
		all, err := service.Messages(ctx, gonebox.Filter{Q: "injected"})
		for _, m := range all {
			same = same && err == nil && m.Project == fresh.Name
		}
	}
	if err := fresh.Destroy(ctx); err != nil {
		log.Fatal(err)
	}
	gone := "there"
	var e *gonebox.Error
	if _, err := fresh.Messages(ctx); errors.As(err, &e) {
		gone = e.Code
	}
	fmt.Println(append(codes, len(others), isProject, same, gone)...)
}
