package event_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/resource"
)

// all is one of each event: a new one fails TestEveryNameHasItsStruct until it is here.
func all() []event.Data {
	return []event.Data{
		event.MessageReceived{},
		event.OTPExtracted{},
		event.MailboxCreated{},
		event.MailboxExpired{},
		event.DomainVerified{},
		event.DomainSuspended{},
		event.WebhookPing{},
	}
}

func TestEveryNameHasItsStruct(t *testing.T) {
	have := make(map[event.Name]bool)
	for _, d := range all() {
		if !slices.Contains(event.Names(), d.Name()) || have[d.Name()] {
			t.Errorf("%T has the name %s, want one of Names() that no other struct has", d, d.Name())
		}
		have[d.Name()] = true
	}
	for _, n := range event.Names() {
		if !have[n] {
			t.Errorf("no struct has the name %s, want one for each of Names()", n)
		}
	}
}

// The JSON forms are public: a change here is a change of the contract.
func TestTheFormsOfEvents(t *testing.T) {
	at := time.Date(2026, 3, 14, 12, 0, 0, 123_456_000, time.UTC)
	stamp := clock.Stamp{Time: at}
	ten := 10
	for _, c := range []struct {
		data event.Data
		want string
	}{
		{
			event.MessageReceived{Summary: resource.Summary{ID: "msg_1", MailboxID: "mbx_1", To: []resource.Address{{Address: "a@b.c"}}, ReceivedAt: stamp, Size: 7}, Address: "a@b.c"},
			`{"type":"message.received","timestamp":"2026-03-14T12:00:00.123Z","data":{"id":"msg_1","mailboxId":"mbx_1",` +
				`"from":{"name":"","address":""},"to":[{"name":"","address":"a@b.c"}],"subject":"","preview":"","receivedAt":"2026-03-14T12:00:00.123Z",` +
				`"sentAt":null,"size":7,"seen":false,"hasAttachments":false,"otp":null,"source":"","verified":false,"action":null,"address":"a@b.c"}}`,
		},
		{
			event.OTPExtracted{OTP: resource.OTP{Code: "123456", MessageID: "msg_1", ReceivedAt: stamp, Confidence: 0.5, Links: []string{}}, MailboxID: "mbx_1", Address: "a@b.c"},
			`{"type":"otp.extracted","timestamp":"2026-03-14T12:00:00.123Z","data":{"code":"123456","display":"","messageId":"msg_1",` +
				`"from":{"name":"","address":""},"subject":"","receivedAt":"2026-03-14T12:00:00.123Z","confidence":0.5,"source":"","filterId":null,` +
				`"kind":"","links":[],"mailboxId":"mbx_1","address":"a@b.c"}}`,
		},
		{
			event.MailboxExpired{Mailbox: resource.Mailbox{ID: "mbx_1", CreatedAt: stamp, ExpiresAt: stamp}, MailboxID: "mbx_1"},
			`{"type":"mailbox.expired","timestamp":"2026-03-14T12:00:00.123Z","data":{"id":"mbx_1","address":"","localPart":"","domain":"",` +
				`"createdAt":"2026-03-14T12:00:00.123Z","expiresAt":"2026-03-14T12:00:00.123Z","ttl":0,"tier":"","source":"","messageCount":0,"unreadCount":0,"mailboxId":"mbx_1"}}`,
		},
		{
			event.DomainVerified{PrivateDomain: resource.PrivateDomain{ID: "dom_1", Records: []resource.DomainRecord{{Type: "MX", Priority: &ten, OK: true}}, CreatedAt: stamp, VerifiedAt: &stamp}},
			`{"type":"domain.verified","timestamp":"2026-03-14T12:00:00.123Z","data":{"id":"dom_1","domain":"","status":"",` +
				`"records":[{"type":"MX","name":"","value":"","priority":10,"ok":true}],"createdAt":"2026-03-14T12:00:00.123Z",` +
				`"verifiedAt":"2026-03-14T12:00:00.123Z","checkedAt":null}}`,
		},
		{
			event.WebhookPing{Webhook: resource.Webhook{ID: "whk_1", Events: []string{"webhook.ping"}, CreatedAt: stamp}},
			`{"type":"webhook.ping","timestamp":"2026-03-14T12:00:00.123Z","data":{"id":"whk_1","url":"","events":["webhook.ping"],"domainId":null,"status":"",` +
				`"failureCount":0,"pausedReason":null,"lastDeliveryAt":null,"createdAt":"2026-03-14T12:00:00.123Z"}}`,
		},
	} {
		got, err := json.Marshal(event.Event{At: at, Data: c.data}.Body())
		if err != nil || string(got) != c.want {
			t.Errorf("Marshal of the event with %T: %v\n%s\nwant\n%s", c.data, err, got, c.want)
		}
	}
}
