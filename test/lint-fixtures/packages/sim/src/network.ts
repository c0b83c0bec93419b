// simulator-has-no-network
import { connect } from 'node:net';
export const network = connect;
