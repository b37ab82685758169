package apiclient

import (
	"errors"
	"time"
)

// Diagnosis says why a wait found nothing (docs/spec/messages.md#why-a-wait-found-nothing). Summary and Detail may quote what
// senders wrote.
type Diagnosis struct {
	Summary string
	Causes  []Cause
}

// Cause is one thing that happened instead of what was waited for, the likeliest first.
type Cause struct {
	Code, Detail, Address, MessageID string
	At                               time.Time
}

// nothingArrived is the code of the only cause where there is no other.
const nothingArrived = "nothing_arrived"

// Merge returns what is known after a further poll of the same wait, whose diagnosis is later: each looks at its own time, so
// that one that found no mail at all does not replace one that did. Either may be nil.
func (d *Diagnosis) Merge(later *Diagnosis) *Diagnosis {
	if later == nil || d != nil && len(later.Causes) == 1 && later.Causes[0].Code == nothingArrived {
		return d
	}
	return later
}

// timeoutError is ErrTimeout with a diagnosis.
type timeoutError struct{ diagnosis *Diagnosis }

func (e *timeoutError) Error() string        { return ErrTimeout.Error() + ": " + e.diagnosis.Summary }
func (e *timeoutError) Is(target error) bool { return target == ErrTimeout }

// DiagnosisOf returns the diagnosis of an error of a wait whose time was over, or of a problem; nil if it has none.
func DiagnosisOf(err error) *Diagnosis {
	if e, ok := errors.AsType[*timeoutError](err); ok {
		return e.diagnosis
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Diagnosis
	}
	return nil
}

// diagnosed adds a diagnosis to ErrTimeout, and returns other errors as they are.
func diagnosed(err error, d *Diagnosis) error {
	if d == nil || !errors.Is(err, ErrTimeout) {
		return err
	}
	return &timeoutError{d}
}
