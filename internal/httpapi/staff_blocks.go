package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/block"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

func (a *API) staffBlocks() {
	registerStaff(a, httpkit.Operation{
		ID: "list-blocks", Method: http.MethodGet, Path: "/staff/blocks", Summary: "List the blocks", Status: 200,
		Text: "Newest first, without those that have expired.",
	}, a.listBlocks)
	registerStaff(a, httpkit.Operation{
		ID: "add-block", Method: http.MethodPost, Path: "/staff/blocks", Summary: "Block a client, a sender or a recipient", Status: 201,
		Text:  "Give exactly one of `ip`, `sender` and `recipient`. Every process refuses such mail within a second.",
		Codes: []problem.Code{problem.BlockLimitReached},
	}, a.addBlock)
	registerStaff(a, httpkit.Operation{
		ID: "remove-block", Method: http.MethodDelete, Path: "/staff/blocks/{id}", Summary: "Remove a block", Status: 204,
		Codes: []problem.Code{problem.BlockNotFound},
	}, a.removeBlock)
}

// Block is a block as staff see it.
type Block struct {
	ID        id.Block     `json:"id" doc:"The identifier of the block." example:"blk_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	IP        *string      `json:"ip" nullable:"true" doc:"The blocked network of clients, or null." example:"192.0.2.0/24"`
	Sender    *string      `json:"sender" nullable:"true" doc:"The blocked sender, an address or @ and a domain, or null." example:"@example.org"`
	Recipient *string      `json:"recipient" nullable:"true" doc:"The pattern of blocked recipients, or null." example:"admin*@box.example.org"`
	Reason    string       `json:"reason" doc:"Why it was blocked; may be empty." example:"floods the service"`
	CreatedAt clock.Stamp  `json:"createdAt" doc:"When it was blocked."`
	ExpiresAt *clock.Stamp `json:"expiresAt" doc:"When the block ends, or null."`
}

func shownBlock(b *block.Block) Block {
	shown := Block{ID: b.ID, Reason: b.Reason, CreatedAt: clock.Stamp{Time: b.CreatedAt}, ExpiresAt: clock.Optional(b.ExpiresAt)}
	switch b.Kind {
	case block.IP:
		shown.IP = &b.Value
	case block.Sender:
		shown.Sender = &b.Value
	case block.Recipient:
		shown.Recipient = &b.Value
	}
	return shown
}

func (a *API) listBlocks(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[Block], error) {
	last, err := httpkit.Before[id.Block](*in)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(*in)
	all, err := a.Blocks.List(ctx, last, size+1)
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(b *block.Block) string { return string(b.ID) })
	shown := make([]Block, len(all))
	for i, b := range all {
		shown[i] = shownBlock(b)
	}
	return httpkit.Page(shown, next), nil
}

// blockCreation is the body that blocks.
type blockCreation struct {
	_         struct{} `additionalProperties:"false"`
	IP        string   `json:"ip,omitempty" maxLength:"64" doc:"An address or a network of clients." example:"192.0.2.0/24"`
	Sender    string   `json:"sender,omitempty" maxLength:"320" doc:"An address of a sender, or @ and a domain." example:"@example.org"`
	Recipient string   `json:"recipient,omitempty" maxLength:"320" doc:"An address of a recipient, in which * stands for any characters." example:"admin*@box.example.org"`
	Reason    string   `json:"reason,omitempty" maxLength:"200" doc:"Why, one line of text." example:"floods the service"`
	For       string   `json:"for,omitempty" maxLength:"32" doc:"For how long, as a duration such as 72h or 30m; until it is removed if absent." example:"72h"`
}

func (a *API) addBlock(ctx context.Context, in *struct{ Body blockCreation }) (*httpkit.One[Block], error) {
	p := block.Params{IP: in.Body.IP, Sender: in.Body.Sender, Recipient: in.Body.Recipient, Reason: in.Body.Reason}
	if in.Body.For != "" {
		d, err := time.ParseDuration(in.Body.For)
		if err != nil || d <= 0 {
			return nil, problem.Invalid("/for", "must be a duration such as 72h or 30m")
		}
		p.For = d
	}
	b, err := a.Blocks.Add(ctx, p)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownBlock(b)), nil
}

func (a *API) removeBlock(ctx context.Context, in *struct {
	ID string `path:"id" maxLength:"64" doc:"The identifier of the block."`
},
) (*struct{}, error) {
	return nil, a.Blocks.Remove(ctx, in.ID)
}
