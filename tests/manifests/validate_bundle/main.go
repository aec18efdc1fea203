// Validates an unpacked OLM bundle by the validators of its API: validate-bundle FOLDER, which holds manifests/.
// Prints one line a finding, "error: …" or "warning: …"; exit code 1 when there is an error, 2 when nothing could be read.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
)

// All that judge by the files alone: the one about architectures pulls the images.
var validators = []interfaces.Validator{
	validation.BundleValidator,
	validation.ClusterServiceVersionValidator,
	validation.CustomResourceDefinitionValidator,
	validation.OperatorHubV2Validator,
	validation.StandardCapabilitiesValidator,
	validation.StandardCategoriesValidator,
	validation.GoodPracticesValidator,
	validation.AlphaDeprecatedAPIsValidator,
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: validate-bundle FOLDER")
		os.Exit(2)
	}
	bundle, err := manifests.GetBundleFromDir(filepath.Join(os.Args[1], "manifests"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	objects := bundle.ObjectsToValidate()
	failed := false
	for _, validator := range validators {
		for _, result := range validator.Validate(objects...) {
			for _, found := range result.Errors {
				failed = true
				fmt.Println("error:", found.Error())
			}
			for _, found := range result.Warnings {
				fmt.Println("warning:", found.Error())
			}
		}
	}
	if failed {
		os.Exit(1)
	}
}
