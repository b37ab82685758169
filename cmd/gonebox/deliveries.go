package main

import (
	"io"
	"strconv"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/id"
)

type deliveriesCmd struct {
	configFlags
	Address string `arg:"" help:"The address, without a +tag."`
	JSON    bool   `help:"Print JSON."`
}

// deliveryRow is an entry of the delivery log as it is printed. Its texts come from other mail servers.
type deliveryRow struct {
	At      clock.Stamp `json:"at"`
	From    string      `json:"from"`
	Client  string      `json:"remoteIp"`
	Helo    string      `json:"helo"`
	TLS     bool        `json:"tls"`
	Reply   int         `json:"reply"`
	Code    string      `json:"code"`
	Reason  string      `json:"reason"`
	Message id.Message  `json:"messageId"` // empty: nothing was stored
	To      string      `json:"to"`        // to whom a message was released; empty: the mail came for the address
}

// Run lists what became of the mail for an address.
func (d *deliveriesCmd) Run(c *console) error {
	return d.operateWith(c, func(o *app.Operator, cfg *config.Config) error {
		all, err := o.Deliveries(c, cfg, d.Address)
		if err != nil {
			return err
		}
		rows := make([]deliveryRow, len(all))
		for i, e := range all {
			rows[i] = deliveryRow{clock.Stamp{Time: e.At}, e.From, e.RemoteIP.String(), e.Helo, e.TLS, e.Reply, e.Code, e.Reason, e.Message, e.Recipient}
		}
		return printAll(c, d.JSON, rows, printDeliveries)
	})
}

func printDeliveries(w io.Writer, rows []deliveryRow) error {
	table := [][]string{{"AT", "FROM", "CLIENT", "REPLY", "REASON", "MESSAGE", "RELEASED TO"}}
	for _, r := range rows {
		table = append(table, []string{
			r.At.String(), dash(visible(r.From)), r.Client, strconv.Itoa(r.Reply) + " " + visible(r.Code), visible(r.Reason), dash(string(r.Message)), dash(visible(r.To)),
		})
	}
	return printTable(w, table)
}
