package dataset_test

import (
	"context"
	"fmt"

	"github.com/benchrig/bench/dataset"
)

func ExampleBuild() {
	set, err := dataset.Build(context.Background(), dataset.Spec{
		Kind: "random", Seed: 7, N: 2, InputLen: 6, OutputLen: 16,
		TokenIDs: true, VocabSize: 1184,
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range set.Prompts {
		fmt.Println(p.TokenIDs, p.OutputTokens)
	}
	fmt.Println(set.SHA256[:16])
	// Output:
	// [1121 1122 1123 1124 1125 1126] 16
	// [744 745 746 747 748 749] 16
	// 0bb7933321726aa7
}
