package maintenance

import (
	"time"

	"github.com/go-openapi/strfmt"
	amSilence "github.com/prometheus/alertmanager/api/v2/client/silence"
	amv2Models "github.com/prometheus/alertmanager/api/v2/models"

	"github.com/openshift/managed-upgrade-operator/pkg/alertmanager"
)

// ArchwayWindow is one call of the maintenance, and the silences that there are.
type ArchwayWindow struct {
	Call      string                        `json:"call"`
	Version   string                        `json:"version"`
	Count     int32                         `json:"count"`
	Criticals []string                      `json:"criticals"`
	EndsAt    time.Time                     `json:"endsAt"`
	Silences  []*amv2Models.GettableSilence `json:"silences"`
}

type recorder struct {
	silences []*amv2Models.GettableSilence
	created  []amv2Models.Silence
	ended    []string
}

func (r *recorder) Create(m amv2Models.Matchers, from strfmt.DateTime, to strfmt.DateTime, creator, comment string) error {
	r.created = append(r.created, amv2Models.Silence{Matchers: m, EndsAt: &to, CreatedBy: &creator, Comment: &comment})
	return nil
}

func (r *recorder) Delete(id string) error {
	r.ended = append(r.ended, id)
	return nil
}

func (r *recorder) List([]string) (*amSilence.GetSilencesOK, error) { return nil, nil }

func (r *recorder) Update(string, strfmt.DateTime) error { return nil }

func (r *recorder) Filter(predicates ...alertmanager.SilencePredicate) (*[]amv2Models.GettableSilence, error) {
	found := []amv2Models.GettableSilence{}
	for _, silence := range r.silences {
		matches := true
		for _, predicate := range predicates {
			matches = matches && predicate(silence)
		}
		if matches {
			found = append(found, *silence)
		}
	}
	return &found, nil
}

// ArchwaySilences is what a call creates and ends.
func ArchwaySilences(given ArchwayWindow) (any, error) {
	client := &recorder{silences: given.Silences, created: []amv2Models.Silence{}, ended: []string{}}
	windows := &alertManagerMaintenance{client: client}
	var err error
	switch given.Call {
	case "controlPlane":
		err = windows.StartControlPlane(given.EndsAt, given.Version, given.Criticals)
	case "worker":
		err = windows.SetWorker(given.EndsAt, given.Version, given.Count)
	case "endControlPlane":
		err = windows.EndControlPlane()
	case "endWorker":
		err = windows.EndWorker()
	}
	return map[string]any{"created": client.created, "ended": client.ended}, err
}
