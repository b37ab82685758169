package app

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/process"
)

func TestMetricsIncludeMemoryBudget(t *testing.T) {
	cfg := config.Default()
	cfg.Memory.Budget = 512 << 20
	b, m := budget.New(memoryBudget(cfg)), newMetrics(process.NewTraffic(clock.System()))
	m.countMemory(b)
	b.TryAcquire(budget.Mail, "192.0.2.1", 1000)
	answer := httptest.NewRecorder()
	m.handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	for _, line := range []string{
		"gonebox_memory_budget_bytes 5.36870912e+08",
		`gonebox_memory_used_bytes{kind="mail"} 1000`,
		`gonebox_memory_used_bytes{kind="response"} 0`,
	} {
		if !strings.Contains(answer.Body.String(), "\n"+line+"\n") {
			t.Errorf("no line %s, want %v in it", line, "\n"+line+"\n")
		}
	}
}

func TestMemoryBudgetDefaultsToMachineMemory(t *testing.T) {
	cfg, err := config.Load("", nil, map[string]string{"memory.budget": ""})
	if err != nil {
		t.Fatal(err)
	}
	if got, least := memoryBudget(cfg), int64(256<<20); got < least || got != budget.DefaultTotal(systemMemory()) {
		t.Errorf("the budget is %d octets, want at least %v and %v", got, least, budget.DefaultTotal(systemMemory()))
	}
}
