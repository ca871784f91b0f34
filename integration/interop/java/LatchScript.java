import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/** Leadership passes to the next candidate: by resignation, by expiry, by the end of a client. */
final class LatchScript {
    private final Interop.Arguments arguments;

    LatchScript(Interop.Arguments arguments) {
        this.arguments = arguments;
    }

    /** A candidate counts how often it was notified to lead, and to stop. */
    private final class Candidate implements LeaderLatchListener {
        private final CuratorFramework client;
        private final LeaderLatch latch;
        private final Semaphore told = new Semaphore(0);
        private final Semaphore untold = new Semaphore(0);

        Candidate(String name, int place) throws Exception {
            client = Clients.connect(arguments);
            latch = new LeaderLatch(client, arguments.path, name);
            latch.addListener(this);
            latch.start();
            Clients.awaitChildren(client, arguments.path, place);
        }

        @Override
        public void isLeader() {
            told.release();
        }

        @Override
        public void notLeader() {
            untold.release();
        }

        void awaitLeading() throws Exception {
            await(told, "is told to lead");
        }

        void awaitStopping() throws Exception {
            await(untold, "is told to stop");
        }

        private void await(Semaphore signal, String what) throws Exception {
            if (!signal.tryAcquire(Clients.LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException(latch.getId() + ": never " + what);
            }
            System.out.println(latch.getId() + " " + what + "; leads: " + latch.hasLeadership());
        }

        /**
         * Ends the session on the server, by a second client that resumes and closes it. The first client, which sees
         * its connection end, may be faster and resume it in turn; then this tries again.
         */
        void expire() throws Exception {
            BlockingQueue<ConnectionState> states = new LinkedBlockingQueue<>();
            client.getConnectionStateListenable().addListener((of, state) -> states.add(state));
            ConnectionState after = ConnectionState.RECONNECTED;
            while (after != ConnectionState.LOST) {
                steal(client.getZookeeperClient().getZooKeeper());
                do {
                    after = states.poll(Clients.LIMIT_SECONDS, TimeUnit.SECONDS);
                    if (after == null) {
                        throw new IllegalStateException(latch.getId() + " did not notice that the session is over");
                    }
                } while (after == ConnectionState.SUSPENDED);
            }
            System.out.println(latch.getId() + " has lost the session");
        }

        private void steal(ZooKeeper from) throws Exception {
            CountDownLatch connected = new CountDownLatch(1);
            ZooKeeper thief = new ZooKeeper(arguments.server, 10_000, event -> {
                if (event.getState() == KeeperState.SyncConnected) {
                    connected.countDown();
                }
            }, from.getSessionId(), from.getSessionPasswd());
            if (!connected.await(Clients.LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the session was not resumed");
            }
            thief.close();
        }

        /** Lists the participants, in order; a star marks the leader. */
        void list() throws Exception {
            System.out.println("candidates: "
                    + latch.getParticipants().stream()
                            .map(Candidate::text)
                            .collect(Collectors.joining(" ")));
        }

        private static String text(Participant participant) {
            return participant.getId() + (participant.isLeader() ? "*" : "");
        }
    }

    void run() throws Exception {
        Candidate ann = new Candidate("ann", 1);
        ann.awaitLeading();
        Candidate bob = new Candidate("bob", 2);
        Candidate eve = new Candidate("eve", 3);
        ann.list();

        ann.latch.close(LeaderLatch.CloseMode.NOTIFY_LEADER);
        ann.awaitStopping();
        bob.awaitLeading();
        Clients.awaitChildren(eve.client, arguments.path, 2);
        eve.list();

        bob.expire();
        bob.awaitStopping();
        eve.awaitLeading();
        Clients.awaitChildren(eve.client, arguments.path, 2); // bob is back, in a new session
        eve.list();

        eve.client.close();
        bob.awaitLeading();
        Clients.awaitChildren(bob.client, arguments.path, 1);
        bob.list();
        bob.latch.close();
        bob.client.close();
        ann.client.close();
    }
}
