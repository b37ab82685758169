package otp_test

import "testing"

// TestTestDigitsAreCodes holds that digits of tests are codes where a word names them,
// as in mails of staging systems, and none where nothing does.
func TestTestDigitsAreCodes(t *testing.T) {
	wantCodes(t, "Tarn", map[string]string{
		"Your Tarn code is 123456.":                        "123456",
		"Your verification code: 000000":                   "000000",
		"Your code is 1234.":                               "1234",
		"Ihr Tarn-Code lautet 123456.":                     "123456",
		"Votre code Tarn est 123456.":                      "123456",
		"We sold 123456 lamps.":                            "",
		"Never use a code such as 123456 or 0000.":         "",
		"A code like 1234 is easily guessed. Change yours": "",
	})
}
