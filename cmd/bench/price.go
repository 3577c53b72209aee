package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/results"
)

// addPriceFlag adds the flag of prices that a report is made with.
func addPriceFlag(cmd *cobra.Command, prices *[]string) {
	cmd.Flags().StringSliceVar(prices, "price", nil,
		"price of the hardware, in place of the scenario's: gpu-hour=2.5, kwh=0.30, currency=EUR, gpus=8 (of a "+
			"replica); VARIANT.gpu-hour=2.5 for one variant")
}

// applyPrices computes the costs of a run again.
func applyPrices(texts []string, run *results.Run) error {
	prices, err := versus.ParsePrices(texts)
	if err == nil {
		err = prices.Apply(run)
	}
	if err != nil {
		return fmt.Errorf("--price: %w", err)
	}
	return nil
}
