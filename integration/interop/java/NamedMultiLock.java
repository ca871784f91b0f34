import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;

/** Curator's lock on several mutexes, which does not show the names of the nodes. */
final class NamedMultiLock extends InterProcessMultiLock implements NamedLock {
    private final List<NamedMutex> mutexes;

    /** Makes the lock on the mutexes at these paths, which it acquires in this order. */
    NamedMultiLock(CuratorFramework client, List<String> paths) {
        this(mutexes(client, paths));
    }

    private NamedMultiLock(List<NamedMutex> mutexes) {
        super(new ArrayList<>(mutexes));
        this.mutexes = mutexes;
    }

    private static List<NamedMutex> mutexes(CuratorFramework client, List<String> paths) {
        List<NamedMutex> mutexes = new ArrayList<>();
        for (String path : paths) {
            mutexes.add(new NamedMutex(client, path));
        }
        return mutexes;
    }

    @Override
    public String node() {
        return mutexes.get(0).node();
    }

    /** Returns the paths of the nodes by which this thread holds the mutexes. */
    List<String> nodes() {
        List<String> nodes = new ArrayList<>();
        for (NamedMutex mutex : mutexes) {
            nodes.add(mutex.path());
        }
        return nodes;
    }
}
