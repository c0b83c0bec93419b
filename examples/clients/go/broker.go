package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	brokerv1 "example.org/bag/mutirao/broker/v1"
	commonv1 "example.org/bag/mutirao/common/v1"
)

//go:generate ./generate

const (
	callTimeout     = 30 * time.Second
	downloadTimeout = time.Hour
	pause           = 500 * time.Millisecond // Before a broker that is away is asked again.
	patience        = 20 * time.Second       // Until a call is given up.
)

// access says where a broker is and as whom to call it.
type access struct {
	broker, token, ca, cert, key string
}

func (a *access) addTo(flags *flag.FlagSet) {
	flags.StringVar(&a.broker, "broker", "", "`host:port`; else what the broker of MUTIRAO_HOME wrote down")
	flags.StringVar(&a.token, "token", filepath.Join(home(), "token"), "`file`, for a broker on this host")
	flags.StringVar(&a.ca, "ca", "", "PEM `file`, for a broker on another host: the authority")
	flags.StringVar(&a.cert, "cert", "", "PEM `file`, likewise: your certificate")
	flags.StringVar(&a.key, "key", "", "PEM `file`, likewise: its key")
}

func home() string {
	if folder := os.Getenv("MUTIRAO_HOME"); folder != "" {
		return folder
	}
	folder, _ := os.UserHomeDir()
	return filepath.Join(folder, ".mutirao")
}

// A Broker has the calls that this program needs, with the user's credentials and a deadline.
type Broker struct {
	connection *grpc.ClientConn
	client     brokerv1.BrokerServiceClient
	token      string // Empty where a certificate says who calls.
}

func dial(access access) (*Broker, error) {
	address, err := access.address()
	if err != nil {
		return nil, err
	}
	security, token, err := access.credentials()
	if err != nil {
		return nil, err
	}
	connection, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(security),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: pause, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}, MinConnectTimeout: callTimeout}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second}),
	)
	if err != nil {
		return nil, err
	}
	return &Broker{connection, brokerv1.NewBrokerServiceClient(connection), token}, nil
}

func (a access) address() (string, error) {
	if a.broker != "" {
		return strings.TrimPrefix(a.broker, "tls://"), nil
	}
	bytes, err := os.ReadFile(filepath.Join(home(), "broker.json"))
	if err != nil {
		return "", err
	}
	var written struct{ Address string }
	err = json.Unmarshal(bytes, &written)
	return strings.TrimPrefix(written.Address, "tls://"), err
}

// credentials are the token that only its owner can read on the broker's own host, and certificates of both sides elsewhere.
func (a access) credentials() (credentials.TransportCredentials, string, error) {
	if a.ca == "" {
		token, err := os.ReadFile(a.token)
		return insecure.NewCredentials(), strings.TrimSpace(string(token)), err
	}
	authority, err := os.ReadFile(a.ca)
	if err != nil {
		return nil, "", err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, "", fmt.Errorf("no certificate in %s", a.ca)
	}
	own, err := tls.LoadX509KeyPair(a.cert, a.key)
	if err != nil {
		return nil, "", err
	}
	return credentials.NewTLS(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}), "", nil
}

// Close ends the connection.
func (b *Broker) Close() {
	_ = b.connection.Close()
}

func (b *Broker) withToken(ctx context.Context) context.Context {
	if b.token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+b.token)
}

// again does something with the broker, again and again while that is away: all that is done here may be repeated, see Submit.
func (b *Broker) again(ctx context.Context, timeout time.Duration, do func(context.Context) error) error {
	for end := time.Now().Add(patience); ; {
		once, cancel := context.WithTimeout(b.withToken(ctx), timeout)
		err := do(once)
		cancel()
		if status.Code(err) != codes.Unavailable || time.Now().After(end) {
			return err
		}
		if err := wait(ctx); err != nil {
			return err
		}
	}
}

func wait(ctx context.Context) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call makes a call with one answer.
func call[Request, Reply any](ctx context.Context, b *Broker, method func(context.Context, *Request, ...grpc.CallOption) (*Reply, error), request *Request) (*Reply, error) {
	var reply *Reply
	err := b.again(ctx, callTimeout, func(ctx context.Context) (err error) {
		reply, err = method(ctx, request)
		return err
	})
	return reply, err
}

// Submit submits tasks whose "{}" is 0, 1, ..., each of which makes a file if output is not empty, and returns the job's number.
// Sent twice with the same key, it is the same job.
func (b *Broker) Submit(ctx context.Context, command string, count uint64, output string) (uint64, error) {
	group := &brokerv1.TaskGroup{
		Command: command,
		Values:  &brokerv1.TaskGroup_Range{Range: &commonv1.IntegerRange{Count: count}},
	}
	if output != "" {
		group.Outputs = []*brokerv1.OutputSpec{{Root: commonv1.Root_ROOT_PLAYPEN, Path: output}}
	}
	key := make([]byte, 16)
	if _, err := rand.Read(key); err != nil {
		return 0, err
	}
	reply, err := call(ctx, b, b.client.SubmitJob, &brokerv1.SubmitJobRequest{
		Job:         &brokerv1.JobSpec{Label: "from Go", Groups: []*brokerv1.TaskGroup{group}},
		ClientJobId: fmt.Sprintf("%x", key),
	})
	return reply.GetJobId(), err
}

// A place is where in the broker's journal a follower is.
type place struct {
	after   uint64
	told    uint32  // Events of the change behind after that have been heard: a large change comes in several messages.
	journal *string // The instance of the journal that after is of; nil before the first message.
}

// Follow hears the events of a job behind a sequence until its end, each once, also when the broker or the network fails.
//
// After the broker was restored from a back-up it has another journal, whose events are counted again: they are heard from the first on.
func (b *Broker) Follow(ctx context.Context, job, after uint64, hear func(*brokerv1.JobEvent) error) error {
	at := place{after: after}
	for {
		isOver, err := b.followOnce(ctx, job, &at, hear)
		if !isOver && status.Code(err) == codes.OutOfRange {
			fmt.Fprintf(os.Stderr, "the broker has another journal, starting over: %v\n", err)
			at = place{}
			continue
		}
		if isOver || status.Code(err) != codes.Unavailable && !errors.Is(err, io.EOF) {
			return err
		}
		fmt.Fprintf(os.Stderr, "the broker is away, asking again from %d: %v\n", at.after, err)
		if err := wait(ctx); err != nil {
			return err
		}
	}
}

// followOnce does so over one stream, and moves the place on. It says whether the job's end was told, or hear failed.
func (b *Broker) followOnce(ctx context.Context, job uint64, at *place, hear func(*brokerv1.JobEvent) error) (bool, error) {
	before, err := b.Status(ctx, job)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancel(b.withToken(ctx))
	defer cancel() // Ends the stream.
	stream, err := b.client.WatchJob(ctx, &brokerv1.WatchJobRequest{
		JobId: job, AfterSequence: at.after, AfterEventCount: &at.told, JournalInstance: at.journal,
	})
	if err != nil {
		return false, err
	}
	for {
		message, err := stream.Recv()
		if err != nil {
			return false, err
		}
		at.journal = message.JournalInstance
		if len(message.Events) == 0 { // All that had happened so far has been told.
			if before != brokerv1.JobStatus_JOB_STATUS_RUNNING {
				return true, nil
			}
			continue
		}
		for _, event := range message.Events {
			if err := hear(event); err != nil {
				return true, err
			}
		}
		at.after, at.told = message.GetLastSequence(), message.GetLastEventCount()
		switch message.Events[len(message.Events)-1].Type {
		case "job.finished", "job.failed", "job.cancelled":
			return true, nil
		}
	}
}

// Status says where a job stands.
func (b *Broker) Status(ctx context.Context, job uint64) (brokerv1.JobStatus, error) {
	reply, err := call(ctx, b, b.client.GetJob, &brokerv1.GetJobRequest{JobId: job})
	return reply.GetJob().GetStatus(), err
}

// Output says what a task printed, and which files it brought home. It begins again if the task runs again meanwhile.
func (b *Broker) Output(ctx context.Context, job, task uint64) (*brokerv1.GetTaskOutputResponse, error) {
	for {
		output, err := b.readOutput(ctx, job, task)
		if status.Code(err) != codes.Aborted {
			return output, err
		}
	}
}

func (b *Broker) readOutput(ctx context.Context, job, task uint64) (*brokerv1.GetTaskOutputResponse, error) {
	output := &brokerv1.GetTaskOutputResponse{}
	for request := (&brokerv1.GetTaskOutputRequest{JobId: job, TaskIndex: task}); ; {
		page, err := call(ctx, b, b.client.GetTaskOutput, request)
		if err != nil {
			return nil, err
		}
		output.StandardOutput = append(output.StandardOutput, page.StandardOutput...)
		output.StandardError = append(output.StandardError, page.StandardError...)
		output.Files = append(output.Files, page.Files...)
		if page.NextPageToken == nil {
			return output, nil
		}
		request.PageToken = page.NextPageToken // An answer holds 2 MiB at most, since gRPC takes messages of 4 MiB.
	}
}

// Download writes a content that the broker keeps into a file.
func (b *Broker) Download(ctx context.Context, content *commonv1.Content, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return b.again(ctx, downloadTimeout, func(ctx context.Context) error { return b.downloadOnce(ctx, content, path) })
}

func (b *Broker) downloadOnce(ctx context.Context, content *commonv1.Content, path string) error {
	stream, err := b.client.DownloadBlob(ctx, &brokerv1.DownloadBlobRequest{Sha256: content.Sha256})
	if err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return file.Close()
		}
		if err != nil {
			return err
		}
		if _, err := file.Write(message.Data); err != nil {
			return err
		}
	}
}

// Cancel cancels what of a job has not ended.
func (b *Broker) Cancel(ctx context.Context, job uint64, reason string) error {
	_, err := call(ctx, b, b.client.CancelJob, &brokerv1.CancelJobRequest{JobId: job, Reason: reason})
	return err
}
