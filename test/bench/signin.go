package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

const (
	signInPassword = "correct horse battery staple"
	wrongCodes     = 10 // that an account takes before it is shut for a while
)

// failure is a way to fail to sign in.
type failure struct {
	name string
	took series // in milliseconds
}

// signInPart times sign-ins that fail. They should not tell by their time why: whether there is such an address, whether
// its password was right.
func signInPart(ctx context.Context, b *bench) error {
	rounds := 240
	if b.quick {
		rounds = 60
	}
	g, err := b.startGonebox(ctx, b.dataDir())
	if err != nil {
		return err
	}
	defer g.stop()
	c, err := dial(ctx, g.web)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	b.report.note("signin: register %d accounts with two-factor", rounds/wrongCodes)
	for i := range rounds / wrongCodes {
		if err := c.twoFactorAccount(accountName(i)); err != nil {
			return err
		}
	}
	b.report.note("signin: %d rounds of three failures", rounds)
	failures := []failure{{name: "unknown address"}, {name: "wrong password"}, {name: "right password, wrong code"}}
	for round := -10; round < rounds; round++ { // the first warm it up and do not count
		for _, i := range rand.Perm(len(failures)) {
			took, err := c.fail(i, round)
			if err != nil {
				return fmt.Errorf("%s: %w", failures[i].name, err)
			}
			if round >= 0 {
				failures[i].took = append(failures[i].took, took.Seconds()*1000)
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	b.report.signIn(failures)
	return nil
}

func accountName(i int) string { return fmt.Sprintf("account-%05d@bench.example", i) }

// fail signs in in vain and returns how long that took. A round's failures are of one length and of one account, but for
// the first.
func (c *caller) fail(kind, round int) (time.Duration, error) {
	wish := map[string]string{"email": accountName(max(round, 0) / wrongCodes), "password": signInPassword, "code": "000000"}
	switch {
	case kind == 0:
		wish["email"] = accountName(90_000 + round)
	case kind == 1 || round < 0:
		wish["password"] = "wrong horse battery staples!"
	}
	body, err := json.Marshal(wish)
	if err != nil {
		return 0, err
	}
	r := request("POST", base+"/auth/token", "", string(body))
	begun := time.Now()
	status, err := c.do(r)
	took := time.Since(begun)
	if err == nil && status != 401 {
		err = fmt.Errorf("status %d: %s", status, c.body)
	}
	return took, err
}

// twoFactorAccount registers an account and turns two-factor on.
func (c *caller) twoFactorAccount(email string) error {
	credentials, err := json.Marshal(map[string]string{"email": email, "password": signInPassword})
	if err != nil {
		return err
	}
	var account struct{ Data struct{ Token string } }
	if err := c.call(201, "POST", "/auth/register", "", string(credentials), &account); err != nil {
		return err
	}
	token := account.Data.Token
	var enrolment struct{ Data struct{ Secret string } }
	if err := c.call(200, "POST", "/me/2fa/setup", token, "", &enrolment); err != nil {
		return err
	}
	secret, err := base32.StdEncoding.DecodeString(enrolment.Data.Secret)
	if err != nil {
		return err
	}
	return c.call(200, "POST", "/me/2fa/confirm", token, fmt.Sprintf(`{"code":%q}`, totp(secret, time.Now())), new(any))
}

// totp is the code of an authenticator app at a moment (RFC 6238).
func totp(secret []byte, at time.Time) string {
	mac := hmac.New(sha1.New, secret)
	_ = binary.Write(mac, binary.BigEndian, at.Unix()/30) // a hash takes all that is written
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[len(sum)-1]&15:])&math.MaxInt32%1_000_000)
}

func (r *report) signIn(failures []failure) {
	r.say("\nSIGNIN: one client, %d failures of each kind, in turns of random order; milliseconds", len(failures[0].took))
	rows := [][]string{{"failure", "time", "MAD"}}
	for _, f := range failures {
		rows = append(rows, []string{f.name, f.took.spread("%.2f"), fmt.Sprintf("%.2f", f.took.mad())})
	}
	r.table(rows)
	r.say("  Rank test of each two: how likely the first takes longer, and how many standard deviations that is from an even chance (3 and more is no chance):")
	rows = [][]string{{"first", "second", "difference of medians", "in MADs", "likely", "deviations"}}
	most := 0.0
	for i, f := range failures {
		for _, other := range failures[:i] {
			shift := f.took.shift(other.took)
			above, z := f.took.ranked(other.took)
			rows = append(rows, []string{
				f.name, other.name, fmt.Sprintf("%+.3f ms", f.took.median()-other.took.median()), fmt.Sprintf("%+.2f", shift), fmt.Sprintf("%.3f", above), fmt.Sprintf("%+.1f", z),
			})
			most = max(most, math.Abs(shift))
		}
	}
	r.table(rows)
	r.target("greatest difference of two medians, in MADs", most, 1, true, "")
}
