import type { ChannelOptions } from '@grpc/grpc-js';

/** The largest message either way, where nothing else is said. */
export const messageBytesMax = 16 * 1024 * 1024;

/**
 * What servers and clients have in common: they notice within 15 s that a peer is dead or stopped, and keep much in
 * flight.
 *
 * They ask often and wait long. An answer comes behind what is in flight, a flow control window at most, and for that a
 * line of 1 Mbit/s takes
 * 8.4 s: were it waited for less, a laptop that delivers over such a line would be cut off again and again.
 */
export const channelOptions: ChannelOptions = {
  'grpc.max_receive_message_length': messageBytesMax,
  'grpc.max_send_message_length': messageBytesMax,
  'grpc.keepalive_time_ms': 5000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.enable_channelz': 0,
  'grpc-node.flow_control_window': 1024 * 1024,
};

/** What only clients need: a connection of their own, retried soon and often, no proxy, no hidden retries of calls. */
export const clientOptions: ChannelOptions = {
  ...channelOptions,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2000,
};

/** The largest message to and from a broker: a job comes with all its values, and goes out with them. */
export const jobBytesMax = 256 * 1024 * 1024;

/** Options of a channel whose messages may be larger than usual. */
export function getWithMessages(bytesMax: number): ChannelOptions {
  return { 'grpc.max_receive_message_length': bytesMax, 'grpc.max_send_message_length': bytesMax };
}
