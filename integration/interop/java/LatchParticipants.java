import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.Participant;

/** Prints the ids of the candidates of an election, in order, one a line; a star marks the leader. */
final class LatchParticipants {
    private final Interop.Arguments arguments;

    LatchParticipants(Interop.Arguments arguments) {
        this.arguments = arguments;
    }

    void run() throws Exception {
        CuratorFramework client = Clients.connect(arguments);
        for (Participant participant : new LeaderLatch(client, arguments.path).getParticipants()) {
            System.out.println(participant.getId().replace("\n", "\\n") + (participant.isLeader() ? "*" : ""));
        }
        client.close();
    }
}
