// Bag is a client of Mutirao's broker: it submits bags of tasks, follows them, fetches what they made, cancels them.
//
// Results are JSON on standard output, one object a line; "bag COMMAND -help" tells the options.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	brokerv1 "example.org/bag/mutirao/broker/v1"
)

const usage = "usage: bag submit [-count N] [-get PATH] COMMAND | bag follow [-after SEQUENCE] [-into FOLDER] JOB | bag cancel [-reason TEXT] JOB"

// The exit status for a job that has ended.
var exitStatus = map[brokerv1.JobStatus]int{
	brokerv1.JobStatus_JOB_STATUS_FINISHED:  0,
	brokerv1.JobStatus_JOB_STATUS_FAILED:    1,
	brokerv1.JobStatus_JOB_STATUS_CANCELLED: 4,
}

// An eventLine is what is printed of an event.
type eventLine struct {
	Sequence uint64   `json:"sequence"`
	Type     string   `json:"type"`
	Tasks    []uint64 `json:"tasks"`
	Machine  string   `json:"machine"`
	Reason   string   `json:"reason"`
}

// A taskLine is what is printed of a task that has finished.
type taskLine struct {
	Task   uint64   `json:"task"`
	Output string   `json:"output"`
	Files  []string `json:"files"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	code, err := run(ctx, os.Args[1:])
	if failure, ok := status.FromError(err); ok && err != nil {
		fmt.Fprintln(os.Stderr, "error:", failure.Code(), failure.Message())
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	os.Exit(code)
}

// run does what the arguments ask for and says the exit status.
func run(ctx context.Context, args []string) (int, error) {
	if len(args) == 0 {
		return 2, errors.New(usage)
	}
	flags := flag.NewFlagSet("bag "+args[0], flag.ExitOnError)
	var access access
	access.addTo(flags)
	count := flags.Uint64("count", 1, "submit: how many tasks; {} in the command stands for 0, 1, ...")
	output := flags.String("get", "", "submit: a `path` that each task makes and that is brought home")
	after := flags.Uint64("after", 0, "follow: go on behind the event of this `sequence`")
	into := flags.String("into", "outputs", "follow: the `folder` where files go")
	reason := flags.String("reason", "", "cancel: why")
	_ = flags.Parse(args[1:]) // Exits on an error.
	if flags.NArg() != 1 {
		return 2, errors.New(usage)
	}
	broker, err := dial(access)
	if err != nil {
		return 1, err
	}
	defer broker.Close()

	if args[0] == "submit" {
		job, err := broker.Submit(ctx, flags.Arg(0), *count, *output)
		if err != nil {
			return 1, err
		}
		return 0, tell(map[string]uint64{"job": job})
	}
	job, err := strconv.ParseUint(flags.Arg(0), 10, 64)
	if err != nil {
		return 2, fmt.Errorf("job is %q; expected a number", flags.Arg(0))
	}
	switch args[0] {
	case "follow":
		return follow(ctx, broker, job, *after, *into)
	case "cancel":
		if err := broker.Cancel(ctx, job, *reason); err != nil {
			return 1, err
		}
		return 0, nil
	default:
		return 2, errors.New(usage)
	}
}

// follow tells the events of a job and fetches the outputs of tasks as they finish, until the job has ended.
func follow(ctx context.Context, broker *Broker, job, after uint64, into string) (int, error) {
	err := broker.Follow(ctx, job, after, func(event *brokerv1.JobEvent) error {
		tasks := append([]uint64{}, event.TaskIndexes...) // [] and not null where there are none.
		if err := tell(eventLine{event.Sequence, event.Type, tasks, event.MachineId, event.Reason}); err != nil {
			return err
		}
		if event.Type != "tasks.finished" {
			return nil
		}
		for _, task := range event.TaskIndexes {
			err := fetch(ctx, broker, job, task, into)
			if status.Code(err) == codes.NotFound {
				// The broker was restored from a back-up meanwhile: the task runs again, and its events come again.
				fmt.Fprintln(os.Stderr, "skipping an output:", err)
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 1, err
	}
	ended, err := broker.Status(ctx, job)
	if err != nil {
		return 1, err
	}
	return exitStatus[ended], nil
}

// fetch tells what a task printed and writes its files below a folder.
func fetch(ctx context.Context, broker *Broker, job, task uint64, into string) error {
	output, err := broker.Output(ctx, job, task)
	if err != nil {
		return err
	}
	paths := []string{}
	for _, file := range output.Files {
		folder := filepath.Join(into, strconv.FormatUint(task, 10))
		path := filepath.Join(folder, "/"+file.Path) // Rooted first, so that no ".." leads out of the folder.
		if err := broker.Download(ctx, file.Content, path); err != nil {
			return err
		}
		paths = append(paths, path)
	}
	return tell(taskLine{task, string(output.StandardOutput), paths})
}

func tell(line any) error {
	return json.NewEncoder(os.Stdout).Encode(line)
}
