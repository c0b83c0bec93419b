// Command reflection-client calls a method of a process of Mutirao without generated code, as grpcurl does: what the process
// serves is learnt by server reflection. Without a method it prints the methods; with one, the answer as JSON.
//
// Usage: reflection-client ADDRESS TOKEN-FILE [PACKAGE.SERVICE/METHOD [JSON]]
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jhump/protoreflect/desc"
	"github.com/jhump/protoreflect/grpcreflect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/dynamicpb"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	token, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	connection, err := grpc.NewClient(args[0], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+strings.TrimSpace(string(token)))
	client := grpcreflect.NewClientAuto(ctx, connection)
	defer client.Reset()
	if len(args) == 2 {
		return list(client)
	}
	return call(ctx, connection, client, args[2], append(args[3:], "{}")[0])
}

// list prints all methods, each of which has been resolved with its messages.
func list(client *grpcreflect.Client) error {
	names, err := client.ListServices()
	if err != nil {
		return err
	}
	for _, name := range names {
		service, err := client.ResolveService(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, method := range service.GetMethods() {
			fmt.Printf("%s/%s\n", name, method.GetName())
		}
	}
	return nil
}

func call(ctx context.Context, connection *grpc.ClientConn, client *grpcreflect.Client, name, request string) error {
	symbol, err := client.FileContainingSymbol(strings.ReplaceAll(name, "/", "."))
	if err != nil {
		return err
	}
	method, ok := symbol.FindSymbol(strings.ReplaceAll(name, "/", ".")).(*desc.MethodDescriptor)
	if !ok {
		return fmt.Errorf("%s is not a method", name)
	}
	message := dynamicpb.NewMessage(method.GetInputType().UnwrapMessage())
	if err := protojson.Unmarshal([]byte(request), message); err != nil {
		return err
	}
	reply := dynamicpb.NewMessage(method.GetOutputType().UnwrapMessage())
	if err := connection.Invoke(ctx, "/"+name, message, reply); err != nil {
		return err
	}
	text, err := protojson.Marshal(reply)
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	return nil
}
