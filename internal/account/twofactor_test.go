package account_test

import (
	"context"
	"encoding/base32"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/problem"
)

// account reads the account of most tests.
func (f *fixture) account() *account.Account {
	f.t.Helper()
	a, err := f.registry.Find(f.t.Context(), email)
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}

// device is an authenticator app.
type device struct {
	key   []byte
	clock func() time.Time
}

// code returns the device's code, steps away from the current one.
func (d device) code(steps int64) string { return account.HOTP(d.key, d.clock().Unix()/30+steps) }

func (f *fixture) setUp(a *account.Account) device {
	f.t.Helper()
	e, err := f.SetUp(f.t.Context(), a)
	if err != nil {
		f.t.Fatal(err)
	}
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(e.Secret)
	if err != nil || len(key) != 20 {
		f.t.Fatalf("the secret is %q, decoded with %v, want 20 octets", e.Secret, err)
	}
	return device{key, f.clock.Now}
}

// activate turns two-factor on, which uses the current code.
func (f *fixture) activate(a *account.Account) (device, []string) {
	f.t.Helper()
	d := f.setUp(a)
	codes, err := f.Confirm(f.t.Context(), a, d.code(0))
	if err != nil {
		f.t.Fatal(err)
	}
	return d, codes
}

// RFC 4226 Appendix D.
func TestHOTPCodesMatchTheRFC(t *testing.T) {
	for i, want := range strings.Fields("755224 287082 359152 969429 338314 254676 287922 162583 399871 520489") {
		if got := account.HOTP([]byte("12345678901234567890"), int64(i)); got != want {
			t.Errorf("counter %d: %s, want %s", i, got, want)
		}
	}
}

// RFC 6238 Appendix B, SHA-1: eight digits, of which we use the last six.
func TestTOTPCodesMatchTheRFC(t *testing.T) {
	for at, want := range map[int64]string{
		59: "94287082", 1111111109: "07081804", 1111111111: "14050471", 1234567890: "89005924", 2000000000: "69279037", 20000000000: "65353130",
	} {
		key := []byte("12345678901234567890")
		if got := fmt.Sprintf("%08d", account.Truncated(key, at/30)%100_000_000); got != want {
			t.Errorf("at %d: %s, want %s", at, got, want)
		}
		if got := account.HOTP(key, at/30); got != want[2:] {
			t.Errorf("at %d: %s, want %s", at, got, want[2:])
		}
	}
}

func TestSecretHasTheFormOfAuthenticatorApps(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, a := f.register()
		e, err := f.SetUp(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(e.URL)
		if err != nil || u.Scheme != "otpauth" || u.Host != "totp" || u.Path != "/Gonebox:"+email || u.RawQuery !=
			"secret="+e.Secret+"&issuer=Gonebox&algorithm=SHA1&digits=6&period=30" || !e.ExpiresAt.Equal(noon.Add(10*time.Minute)) {
			t.Errorf(`f.SetUp(a) = %+v, %v, want no error, Scheme "otpauth", Host "totp", Path %v, RawQuery %v and ExpiresAt %v`, e, err, "/Gonebox:"+email, "secret="+e.Secret+"&issuer=Gonebox&algorithm=SHA1&digits=6&period=30", noon.Add(10*time.Minute))
		}
	})
}

func TestCodeIsAcceptedOnceWithinOneStep(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, a := f.register()
		d, _ := f.activate(a) // which spends step 0
		for _, try := range []struct {
			step int64
			want problem.Code
		}{
			{-2, problem.AuthInvalidCredentials},
			{2, problem.AuthInvalidCredentials},
			{0, problem.AuthInvalidCredentials}, // confirmed with it
			{1, ""},
			{1, problem.AuthInvalidCredentials},
			{-1, ""},
			{-1, problem.AuthInvalidCredentials},
			{0, problem.AuthInvalidCredentials},
		} {
			_, err := f.signIn(email, password, d.code(try.step))
			wantCode(t, fmt.Sprintf("step %d", try.step), err, try.want)
		}
		f.clock.Advance(30 * time.Second)
		_, err := f.signIn(email, password, d.code(0))
		wantCode(t, "spent a step ago", err, problem.AuthInvalidCredentials)
		_, err = f.signIn(email, password, d.code(1))
		wantCode(t, "the next", err, "")
		f.clock.Advance(24 * time.Hour)
		_, err = f.signIn(email, password, " "+d.code(0)[:3]+" "+d.code(0)[3:])
		wantCode(t, "a day later, with blanks", err, "")
	})
}

func TestSignInNeedsACodeOnceTwoFactorIsConfirmed(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, a := f.register()
		d := f.setUp(a)
		_, err := f.signIn(email, password, "")
		wantCode(t, "pending", err, "")
		_, err = f.Confirm(t.Context(), a, d.code(3))
		wantCode(t, "wrong code", err, problem.TOTPInvalidCode)
		_, err = f.Confirm(t.Context(), a, d.code(0))
		wantCode(t, "confirm", err, "")
		_, err = f.Confirm(t.Context(), a, d.code(1))
		wantCode(t, "confirm again", err, problem.TOTPNotPending)
		_, err = f.SetUp(t.Context(), a)
		wantCode(t, "set up again", err, problem.TOTPAlreadyActive)
		for _, none := range []string{"", " ", "-"} {
			_, err = f.signIn(email, password, none)
			wantCode(t, "no code", err, problem.AuthTOTPRequired)
		}
		_, err = f.signIn(email, "wrong horse", "")
		wantCode(t, "wrong password and no code", err, problem.AuthInvalidCredentials)
		_, err = f.signIn(email, "wrong horse", d.code(1))
		wantCode(t, "wrong password and right code", err, problem.AuthInvalidCredentials)
		_, err = f.signIn(email, password, d.code(1))
		wantCode(t, "right, and not spent by the try before", err, "")
	})
}

func TestEnrolmentExpiresAndIsReplaced(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, a := f.register()
		_, err := f.Confirm(t.Context(), a, "123456")
		wantCode(t, "nothing set up", err, problem.TOTPNotPending)
		first := f.setUp(a)
		second := f.setUp(a)
		_, err = f.Confirm(t.Context(), a, first.code(0))
		wantCode(t, "the replaced secret", err, problem.TOTPInvalidCode)
		f.clock.Advance(10*time.Minute - time.Microsecond)
		if got := f.account().TwoFactor(f.clock.Now()); got != account.Pending {
			t.Errorf("just before the end it is %s, want %v", got, account.Pending)
		}
		f.clock.Advance(time.Microsecond)
		_, err = f.Confirm(t.Context(), a, second.code(0))
		wantCode(t, "lapsed", err, problem.TOTPNotPending)
		if got := f.account().TwoFactor(f.clock.Now()); got != account.Off {
			t.Errorf("then it is %s, want %v", got, account.Off)
		}
		if err := f.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := f.count("SELECT count(*) FROM account WHERE totp_key IS NOT NULL"); n != 0 {
			t.Errorf("after the sweep %d accounts have a TOTP key, want the lapsed enrolment erased", n)
		}
		f.activate(a)
		f.clock.Advance(time.Hour)
		if err := f.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := f.account().TwoFactor(f.clock.Now()); got != account.Active {
			t.Errorf("a confirmed one became %s, want %v", got, account.Active)
		}
	})
}

func TestRecoveryCodeIsAcceptedOnce(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, a := f.register()
		_, codes := f.activate(a)
		if len(codes) != 10 || strings.Trim(strings.Join(codes, ""), "23456789abcdefghjkmnpqrstuvwxyz") != "" {
			t.Fatalf("activating returned the recovery codes %q, want 10 codes of the alphabet of recovery codes", codes)
		}
		left := func(want int) {
			t.Helper()
			state, err := f.TwoFactorState(t.Context(), f.account())
			if err != nil || state.RecoveryCodes != want || state.Status != account.Active {
				t.Errorf("%+v, %v; want %d left", state, err, want)
			}
		}
		left(10)
		written := strings.ToUpper(codes[0][:5]) + "-" + codes[0][5:] + " "
		_, err := f.signIn(email, password, written)
		wantCode(t, "sign in", err, "")
		left(9)
		_, err = f.signIn(email, password, codes[0])
		wantCode(t, "sign in with it again", err, problem.AuthInvalidCredentials)
		wantCode(t, "end with a spent one", f.EndTwoFactor(t.Context(), a, codes[0]), problem.TOTPInvalidCode)
		left(9)
		wantCode(t, "end with another", f.EndTwoFactor(t.Context(), a, codes[1]), "")
		if n := f.count("SELECT count(*) FROM recovery_code"); n != 0 {
			t.Errorf("%d codes outlive two-factor, want 0", n)
		}
		wantCode(t, "end again", f.EndTwoFactor(t.Context(), a, codes[2]), problem.TOTPInvalidCode)
		_, err = f.signIn(email, password, "")
		wantCode(t, "sign in without two-factor", err, "")
	})
}

func TestCodeOfAnotherAccountIsWrong(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, a := f.register()
		_, s, err := f.Register(t.Context(), account.Registration{Email: "eve@example.org", Password: password})
		wantCode(t, "register", err, "")
		_, codes := f.activate(a)
		f.activate(s.Account)
		_, err = f.signIn("eve@example.org", password, codes[0])
		wantCode(t, "another's recovery code", err, problem.AuthInvalidCredentials)

		// A secret copied into another's row does not open: that is a fault, not a wrong code.
		err = f.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE account SET totp_key = (SELECT totp_key FROM account WHERE email = $1)", email)
			return err
		})
		wantCode(t, "copy the secret", err, "")
		_, err = f.signIn("eve@example.org", password, "123456")
		if _, known := problem.From(err); err == nil || known {
			t.Errorf("signing in with a copied secret: %v, want an error that is no problem", err)
		}
	})
}

func TestOnlyWrongCodesAreCounted(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, a := f.register()
		d, codes := f.activate(a)
		wrong := func(i int) error {
			switch i % 2 {
			case 0:
				return f.EndTwoFactor(t.Context(), a, "000000x")
			default:
				_, err := f.signIn(email, password, "000000x")
				return err
			}
		}
		_, err := f.signIn(email, password, codes[0])
		wantCode(t, "a right one", err, "")
		for i := range 10 {
			wantCode(t, "a wrong one", wrong(i), []problem.Code{problem.TOTPInvalidCode, problem.AuthInvalidCredentials}[i%2])
		}
		for i := range 2 {
			wantCode(t, "one too many", wrong(i), problem.RateLimited)
		}
		_, err = f.signIn(email, password, d.code(1))
		p, _ := problem.From(err)
		if p.Code != problem.RateLimited || p.RetryAfter != 6*time.Minute {
			t.Errorf("a right one after that: %+v, want Code %v and RetryAfter %v", p, problem.RateLimited, 6*time.Minute)
		}
		f.clock.Advance(p.RetryAfter)
		_, err = f.signIn(email, password, d.code(0))
		wantCode(t, "after the wait", err, "")
	})
}

func TestCodesAreNormalizedBeforeComparing(t *testing.T) {
	for text, want := range map[string]string{
		"123 456": "123456", "ABCDE-fghjk": "abcdefghjk", " ab\tcd\u00a0ef\u2011gh\u2013 ": "abcdefgh", "": "", "--": "", "12.34": "12.34",
	} {
		if got := account.NormalizeCode(text); got != want {
			t.Errorf("NormalizeCode(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzPlainCode(f *testing.F) {
	for _, seed := range []string{"123 456", "ABCDE-FGHJK", "", "\u2011", "İ", "\xff-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code := account.NormalizeCode(text)
		if again := account.NormalizeCode(code); again != code {
			t.Errorf("NormalizeCode(%q) = %q, and NormalizeCode of that = %q, want the same again", text, code, again)
		}
		if strings.ContainsAny(code, " -\t\r\n") {
			t.Errorf("NormalizeCode(%q) = %q, want no white space and no hyphen", text, code)
		}
	})
}
